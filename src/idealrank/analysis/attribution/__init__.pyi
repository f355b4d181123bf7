# The one list of public names: type checkers read it, and `_lazy.public_names` loads a name when it
# is first asked for.

from idealrank.analysis.attribution.attribution import Attribution as Attribution
from idealrank.analysis.attribution.attribution import DocumentChange as DocumentChange
from idealrank.analysis.attribution.attribution import Move as Move
from idealrank.analysis.attribution.attribution import QueryChange as QueryChange
from idealrank.analysis.attribution.attribution import attributed as attributed
from idealrank.analysis.attribution.document_contributions import can_be_attributed as can_be_attributed
