"""A laboratory for TCP congestion control.

>>> import cwnd
>>> result = cwnd.compare(["cubic", "bbr3"], rate="100 Mbit/s", rtt="40 ms", flows=4)
>>> result.plot()                                    # throughput, RTT, window and queue over time
>>> result.runs["throughput_bps"]                    # a NumPy array, one value a run
>>> import polars; polars.DataFrame(result.flows)   # or pandas, pyarrow, DuckDB: nothing is copied

Quantities are texts with units ("100 Mbit/s", "40 ms", "1 BDP") or numbers in SI units (bit/s, s); buffers as numbers count packets.
Settings have the names of the command line's flags and of study files, with `_` for `-`: `cwnd.settings()` lists them.
"""

from . import executors
from ._algorithm import CongestionControl
from ._conformance import Check, ReportCard, conformance
from ._cwnd import (
    Ack,
    Congestion,
    CwndError,
    DupAck,
    Flow,
    Init,
    InputError,
    LostPacket,
    RateSample,
    RunError,
    Table,
    Window,
    __version__,
)
from ._evaluate import evaluate
from ._registry import Algorithm, Metric, Setting, algorithms, metrics, settings
from ._result import Claim, Result
from ._simulation import Simulation
from ._study import Cost, Study, compare

__all__ = [
    "Ack",
    "Algorithm",
    "Check",
    "Claim",
    "Congestion",
    "CongestionControl",
    "Cost",
    "CwndError",
    "DupAck",
    "Flow",
    "Init",
    "InputError",
    "LostPacket",
    "Metric",
    "RateSample",
    "ReportCard",
    "Result",
    "RunError",
    "Setting",
    "Simulation",
    "Study",
    "Table",
    "Window",
    "__version__",
    "algorithms",
    "compare",
    "conformance",
    "evaluate",
    "executors",
    "metrics",
    "settings",
]
