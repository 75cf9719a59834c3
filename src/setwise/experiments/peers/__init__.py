"""What a user would pick instead: other libraries' ways to predict label sets, and our default."""
