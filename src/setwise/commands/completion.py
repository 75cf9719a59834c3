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
    """Command -> what it does, and its words: actions, choices and options."""
    (sub,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    help_of = {choice.dest: choice.help or "" for choice in sub._choices_actions}
    return {
        name: (help_of.get(name, ""), [word for a in command._actions for word in _words(a)])
        for name, command in sub.choices.items()
    }


def _words(action: argparse.Action) -> list[str]:
    """The options of an argument, or what may stand in its place; actions bring their own."""
    if action.option_strings:
        return [option for option in action.option_strings if option[:2] == "--"]
    if isinstance(action, argparse._SubParsersAction):
        inner = [
            word for one in action.choices.values() for a in one._actions for word in _words(a)
        ]
        return list(dict.fromkeys([*action.choices, *inner]))
    return list(action.choices or ())


def _fish(commands: dict[str, tuple[str, list[str]]]) -> str:
    lines = ["# write this into ~/.config/fish/completions/setwise.fish"]
    for name, (words, words_of) in commands.items():
        quoted = words.replace("'", "\\'")
        lines.append(f"complete -c setwise -n __fish_use_subcommand -a {name} -d '{quoted}'")
        lines += [
            f"complete -c setwise -n '__fish_seen_subcommand_from {name}' "
            + (f"-l {word[2:]}" if word.startswith("--") else f"-a {word}")
            for word in words_of
        ]
    return "\n".join(lines) + "\n"
