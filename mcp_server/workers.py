"""The worker processes of the server, in a module that a spawned process can import; it never imports `__main__`."""

from uvicorn import Config
from uvicorn.supervisors.multiprocess import Process

from shared.processes.worker_processes import ForkedWorker, WorkerConfig


class ServerConfig(WorkerConfig, Config):
    """uvicorn's configuration, whose workers end with their parent."""

    def load_release(self) -> None:
        super().load_release()
        from mcp_server.app import load_facts

        load_facts()


class Worker(ForkedWorker, Process):
    """uvicorn's handle of a worker."""
