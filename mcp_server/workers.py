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

    def load(self) -> None:
        """The document of all tools takes half a second, for which no one waits so: it is there before the port is."""
        super().load()
        from mcp_server.rest import openapi

        openapi.build_once(openapi.document, openapi.WHOLE)


class Worker(ForkedWorker, Process):
    """uvicorn's handle of a worker."""
