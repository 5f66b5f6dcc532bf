# Many learners on one machine, without containers: docs/classes.md says how it is used. Not for Windows.
# Servers choose the TCP ports of their kernels without knowing of each other. When two draw the same one, a kernel does
# not answer, and a restart keeps its ports. Sockets in the learner's home cannot meet, and nobody else can read them.
import os
from pathlib import Path

c = get_config()  # noqa: F821
c.KernelManager.transport = "ipc"
# The path of a socket has 107 characters at most (103 on macOS), and the name of a kernel's takes 49 of them: Jupyter's
# own folder is too deep for long names of users. It is no option; the server looks for this variable after this file.
os.environ["JUPYTER_RUNTIME_DIR"] = str(Path.home() / ".jupyter" / "run")
