"""The layer check itself: a clean tree passes, and each kind of upward include fails."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent.parent / "tools" / "check_layers.py"


def check(files: dict[str, str], *options: str) -> tuple[int, str]:
    """Writes a tree of sources and runs the check on it."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        command = [sys.executable, str(SCRIPT), "--root", folder, *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout


class CheckLayers(unittest.TestCase):
    def test_downward_includes_pass(self) -> None:
        code, out = check(
            {
                "src/base/a.h": "",
                "src/nn/b.cc": '#include "base/a.h"\n#include "kernels/c.h"\n#include <vector>\n',
                "src/cli/d.cc": '#include "assay/model.h"\n',
                "include/assay/model.h": '#include "assay/error.h"\n',
            }
        )
        self.assertEqual((code, out), (0, "4 files, 0 problems\n"))

    def test_each_upward_include_fails(self) -> None:
        for name, text in [
            ("src/base/a.cc", '#include "kernels/c.h"'),
            ("src/kernels/a.cc", '#include "nn/c.h"'),
            ("src/nn/a.cc", '  #  include "families/family.h"'),
            ("src/text/a.cc", '#include "formats/c.h"'),
            ("src/cli/a.cc", '#include "decide/run.h"'),
            ("src/families/d1/a.cc", '#include "families/kev/b.h"'),
            ("src/nn/a.cc", '#include "testing/random.h"'),
            ("src/nn/a.cc", '#include "assay/model.h"'),
            ("include/assay/a.h", '#include "decide/run.h"'),
            ("src/unknown/a.cc", '#include "base/a.h"'),
        ]:
            code, out = check({name: text + "\n"})
            self.assertEqual(code, 1, f"{name} {text}: {out}")
            self.assertIn(name, out)

    def test_tests_may_use_test_helpers(self) -> None:
        code, _ = check({"src/nn/a_test.cc": '#include "testing/random.h"\n'})
        self.assertEqual(code, 0)

    def test_tests_of_front_doors_may_look_behind_the_api(self) -> None:
        code, _ = check({"src/cli/a_test.cc": '#include "decide/run.h"\n'})
        self.assertEqual(code, 0)

    def test_a_header_that_needs_another_first_fails(self) -> None:
        code, out = check({"src/base/a.h": "std::string f();\n"}, "--compile")
        self.assertEqual(code, 1, out)
        self.assertIn("does not compile alone", out)

    def test_an_empty_tree_is_no_success(self) -> None:
        self.assertEqual(check({"README.md": ""})[0], 1)


if __name__ == "__main__":
    unittest.main()
