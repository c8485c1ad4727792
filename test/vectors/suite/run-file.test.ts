import { expect, it } from "vitest";
import { countTests } from "./run-file.ts";

const OUTPUT = `
 ✓ src/testcases/parallel/subdao.test.ts > Neutron / Subdao > timelock > overrules 3087ms
 × src/testcases/parallel/subdao.test.ts > Neutron / Subdao > timelock > executes a proposal 3053ms
   → expected +0 to be above +0
 ↓ src/testcases/parallel/subdao.test.ts > Neutron / Subdao > skipped

⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  src/testcases/parallel/subdao.test.ts > Neutron / Subdao > timelock > executes a proposal
AssertionError: expected +0 to be above +0
 ❯ src/testcases/parallel/subdao.test.ts:476:63

 Test Files  1 failed (1)
      Tests  1 failed | 1 passed | 1 skipped (3)
   Start at  01:55:55
`;

it("the result of a file has the passed tests, all tests, and the names of the failed ones", () => {
  expect(countTests(OUTPUT)).toEqual({
    passed: 1,
    total: 3,
    failures: ["Neutron / Subdao > timelock > executes a proposal"],
  });
});

it("a file whose preparation fails has passed nothing", () => {
  const failed =
    " FAIL  src/testcases/parallel/overrule.test.ts > Neutron / Overrule\n\n Test Files  1 failed (1)\n      Tests  6 skipped (6)\n";
  expect(countTests(failed)).toEqual({ passed: 0, total: 6, failures: ["Neutron / Overrule"] });
  expect(countTests("Error: the program was not found")).toEqual({ passed: 0, total: 0, failures: [] });
});
