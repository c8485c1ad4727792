import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { demangle } from "../../../src/workbench/profile/demangle.ts";

describe("names of Rust's functions", () => {
  it.each([
    // Legacy mangling.
    ["_ZN4core9panicking5panic17h0123456789abcdefE", "core::panicking::panic"],
    ["_ZN3foo17h05af221e174051e9E", "foo"],
    [
      "_ZN4core3ptr85drop_in_place$LT$std..rt..lang_start$LT$$LP$$RP$$GT$..$u7b$$u7b$closure$u7d$$u7d$$GT$17h0123456789abcdefE",
      "core::ptr::drop_in_place<std::rt::lang_start<()>::{{closure}}>",
    ],
    [
      "_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE",
      "<Test + 'static as foo::Bar<Test>>::bar",
    ],
    // Demangled by the linker, with the hash.
    ["cosmwasm_std::exports::do_execute::h0123456789abcdef", "cosmwasm_std::exports::do_execute"],
    // Mangling "v0".
    ["_RNvCs4fqI2P2rA04_7mycrate7example", "mycrate::example"],
    ["_RNvC6_123foo3bar", "123foo::bar"],
    ["_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_", "cc::spawn::{closure#0}::{closure#0}"],
    ["_RNvMNtCs1_4core3stre4trim", "<str>::trim"],
    ["_RNvXs_Cs2_3fooNtB4_3BarNtNtC4core5clone5Clone5clone", "<foo::Bar as core::clone::Clone>::clone"],
    ["_RINvNtC3std3mem8align_ofjdE", "std::mem::align_of::<usize, f64>"],
    ["_RINvC1a1fTRhQSmPlOAtj10_EE", "a::f::<(&u8, &mut [u32], *const i32, *mut [u16; 16])>"],
    ["_RINvC1a1fFUKCmExE", 'a::f::<unsafe extern "C" fn(u32) -> i64>'],
    ["_RINvC1a1fDNtC4core4Sendp6OutputlEL_E", "a::f::<dyn core::Send<Output = i32>>"],
    ["_RINvC1a1fKb1_Klna_Kc61_E", "a::f::<true, -10, 'a'>"],
    ["_RINvC1a1fKj1_KB8_E", "a::f::<1, 1>"],
    ["_RINvC1a1fKb1_KB8_E", "a::f::<true, true>"],
    ["_RINvC1a1fKpE", "a::f::<_>"],
    ["_RNvC6_123foo3bar.llvm.1234ABCD", "123foo::bar"],
    // Anything else.
    ["main", "main"],
    ["_ZN3fooXE", undefined],
    ["_RNvB_3bar", undefined],
    ["_R", undefined],
    ["_ZN", undefined],
  ])("%s", (name, expected) => {
    expect(demangle(name)).toBe(expected ?? name);
  });

  it("never takes long and never throws, whatever the name is", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[CMXYNIBELKTRSAPODFGa-z_0-9$.]{0,80}$/), (text) => {
        expect(demangle(`_R${text}`).length).toBeLessThanOrEqual(4_000);
        expect(typeof demangle(`_ZN${text}E`)).toBe("string");
      }),
      { numRuns: 2_000 },
    );
    // Each level stands for twice the level before.
    const doubling = `_RIC1a${Array.from({ length: 30 }, (_, at) => `TB${at}_B${at}_E`).join("")}E`;
    expect(demangle(doubling)).toBe(doubling);
  });
});
