"""Write the contract anew: the Python API and the command line, each in its file."""

import json

from tests.contract import commands, snapshot

for path, record in (
    (snapshot.FILE, snapshot.recorded(snapshot.snapshot())),
    (commands.FILE, commands.snapshot()),
):
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
