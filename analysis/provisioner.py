"""The kernel provisioner of warm kernels, found by jupyter_client through the entry point that kernels.py makes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal

from jupyter_client.provisioning import LocalProvisioner


class ForkedKernel(LocalProvisioner):
    """A kernel forked by the nursery: a process that is not our child, known by its id."""

    @property
    def has_process(self) -> bool:
        return self.pid is not None

    async def launch_kernel(self, cmd: list[str], **options):
        # cmd is `python -m ipykernel_launcher -f FILE`: the fork has all but the last part behind it.
        self.pid = self.pgid = self.parent.nursery.fork(cmd[3:], options["env"])
        return self.connection_info

    async def poll(self) -> int | None:
        """None while the kernel lives; the system reaps it, so how it ended is not known."""
        if self.pid is None:
            return 0
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return 1
        return None

    async def wait(self) -> int | None:
        while await self.poll() is None:
            await asyncio.sleep(0.02)
        self.pid = None
        return 0

    async def send_signal(self, signum: int) -> None:
        if self.pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signum)

    async def kill(self, restart: bool = False) -> None:
        await self.send_signal(signal.SIGKILL)

    async def terminate(self, restart: bool = False) -> None:
        await self.send_signal(signal.SIGTERM)
