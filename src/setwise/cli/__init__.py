"""The command line: arguments only; what a command does stands in ``setwise.commands``.

| file | what |
|---|---|
| parser.py | all commands together, and the way they are run |
| learning.py | fit, models |
| predicting.py | predict, explain |
| judging.py | evaluate, report |
| touring.py | demo, datasets, warmup |
| benching.py | bench |
| arguments.py | what several of them share |
"""

from setwise.cli.parser import main

__all__ = ["main"]
