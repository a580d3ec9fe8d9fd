"""The worker processes of the server, in a module that a spawned worker can import; it never imports `__main__`."""

from uvicorn import Config
from uvicorn.supervisors import Multiprocess

from shared.garbage_collection import postpone_collections
from shared.worker_processes import RollingWorkers, WorkerConfig


class ServerConfig(WorkerConfig, Config):
    """uvicorn's configuration, whose workers end with their parent."""

    def load(self) -> None:
        postpone_collections()
        super().load()


class Workers(RollingWorkers, Multiprocess):
    """uvicorn's supervisor of workers, which says how a roll ended."""
