"""What the runner of GitHub Actions would do with a log."""

import re


def obeyed(log: str) -> list[tuple[str, dict[str, str], str]]:
    """The commands that the runner of GitHub Actions finds in a log, by both of its rules
    (`ActionCommand.cs`).
    """
    found = []
    for line in re.split(r"\r\n|\r|\n", log):
        stripped = line.lstrip()
        new = re.match(r"::(\S+?)(?: (.*?))?::(.*)$", stripped)
        if new:
            pairs = [pair.split("=", 1) for pair in (new[2] or "").split(",") if "=" in pair]
            found.append((new[1], {name: undone(value) for name, value in pairs}, undone(new[3])))
        elif old := re.search(r"##\[(\S*)(.*?)\](.*)$", line):
            found.append((old[1], {}, old[3]))
    return found


def undone(text: str) -> str:
    for escape, letter in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(escape, letter)
    return text
