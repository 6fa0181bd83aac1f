"""
Becomes ministack, and ends when its standard input does, with its folder: so it never outlives the process that started it, however that ends.
"""

import os
import shutil
import signal
import sys
import threading
import time


def end_with_parent():
    sys.stdin.buffer.read()
    shutil.rmtree(os.environ["TMPDIR"], ignore_errors=True)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(2)
    os._exit(1)


threading.Thread(target=end_with_parent, daemon=True).start()

from ministack.app import main  # noqa: E402

main()
