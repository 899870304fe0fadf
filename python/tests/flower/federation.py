"""A SuperLink and SuperNodes of this machine, under TLS. No network but loopback."""

import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

import certificates

BIN = pathlib.Path(sys.executable).parent
LONGEST = 400  # seconds, for a whole run on a busy machine: every message starts a process


def free_ports(count):
    """Ports that are free now."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Federation:
    """Processes, which end with the test in every case."""

    def __init__(self, folder, nodes=2):
        self.folder, self.processes = folder, []
        self.port, *self.node_ports = free_ports(1 + nodes)
        self.environment = {**os.environ, "FLWR_TELEMETRY_ENABLED": "0", "FLWR_HOME": str(folder / "flwr"),
                            "OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1",
                            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}
        (folder / "flwr").mkdir()
        (folder / "flwr/config.toml").write_text(
            f'[superlink]\ndefault = "here"\n\n[superlink.here]\naddress = "127.0.0.1:{self.port}"\n'
            f'root-certificates = "{folder / "ca.crt"}"\n')
        certificates.write(folder)

    def start(self, name, *command):
        log = open(self.folder / f"{name}.log", "a")
        self.processes.append(subprocess.Popen([BIN / command[0], *command[1:]], stdout=log, stderr=log, cwd=self.folder,
                                               env=self.environment, start_new_session=True))
        log.close()
        return self.processes[-1]

    def link(self):
        self.start("superlink", "flower-superlink", "--port", str(self.port), "--ssl-ca-certfile", "ca.crt",
                   "--ssl-certfile", "server.crt", "--ssl-keyfile", "server.key", "--disable-runtime-dependency-installation")
        end = time.monotonic() + LONGEST
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            assert time.monotonic() < end and self.processes[0].poll() is None, self.logs()
            time.sleep(0.2)

    def node(self, name, port, **settings):
        words = " ".join(f'{key}="{value}"' if isinstance(value, str) else f"{key}={value}" for key, value in settings.items())
        return self.start(name, "flower-supernode", "--superlink", f"127.0.0.1:{self.port}", "--root-certificates", "ca.crt",
                   "--port", str(port), "--node-config", words)

    def run(self, app, **config):
        """The result that the server printed."""
        words = " ".join(f'{key}={json.dumps(value)}' for key, value in config.items())
        try:
            done = subprocess.run([BIN / "flwr", "run", str(app), "here", "--stream", "--run-config", words], text=True,
                                  capture_output=True, env=self.environment, cwd=self.folder, timeout=LONGEST)
        except subprocess.TimeoutExpired as late:
            raise AssertionError(f"{late.stdout}\n{self.logs()}") from None
        self.told = done.stdout + done.stderr
        found = [line for line in done.stdout.splitlines() if "result {" in line]
        assert found, self.told + self.logs()
        return json.loads(found[-1].partition("result ")[2])

    def logs(self):
        return "\n".join(f"== {path.name}\n{path.read_text()[-3000:]}" for path in sorted(self.folder.glob("*.log")))

    def stop(self):
        for sign in (signal.SIGTERM, signal.SIGKILL):
            for process in self.processes:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, sign)
            for process in self.processes:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(5 if sign == signal.SIGTERM else None)
