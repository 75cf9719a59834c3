"""``setwise completion``: a script that completes commands and options in a shell."""

from __future__ import annotations

import argparse

_BASH = """\
# put this line into ~/.bashrc:  eval "$(setwise completion bash)"
_setwise() {{
  local words
  case "${{COMP_WORDS[1]}}" in
{cases}
    *) words="" ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words="{commands}"; fi
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _setwise setwise
"""
_ZSH = """\
# put this line into ~/.zshrc:  eval "$(setwise completion zsh)"
autoload -U +X bashcompinit && bashcompinit
"""


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """The script for a shell: bash, zsh or fish."""
    commands = _commands(parser)
    if shell == "fish":
        return _fish(commands)
    cases = "\n".join(
        f'    {name}) words="{" ".join(options)}" ;;' for name, (_, options) in commands.items()
    )
    bash = _BASH.format(cases=cases, commands=" ".join(commands))
    return bash if shell == "bash" else _ZSH + bash.split("\n", 1)[1]


def _commands(parser: argparse.ArgumentParser) -> dict[str, tuple[str, list[str]]]:
    """Command -> what it does, and its options."""
    (sub,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    help_of = {choice.dest: choice.help or "" for choice in sub._choices_actions}
    return {
        name: (
            help_of.get(name, ""),
            [option for a in command._actions for option in a.option_strings if option[:2] == "--"],
        )
        for name, command in sub.choices.items()
    }


def _fish(commands: dict[str, tuple[str, list[str]]]) -> str:
    lines = ["# write this into ~/.config/fish/completions/setwise.fish"]
    for name, (words, options) in commands.items():
        quoted = words.replace("'", "\\'")
        lines.append(f"complete -c setwise -n __fish_use_subcommand -a {name} -d '{quoted}'")
        lines += [
            f"complete -c setwise -n '__fish_seen_subcommand_from {name}' -l {option[2:]}"
            for option in options
        ]
    return "\n".join(lines) + "\n"
