"""Tables: data sets, models, decisions and seeds as data, and one runner."""
