import { describe, expect, it } from "vitest";
import { validateTransactionsFilter } from "../../../src/localnet/chain/modules/interchainqueries/tx-queries.ts";
import { ModuleError } from "../../../src/localnet/chain/runtime/errors.ts";

const ADDRESS = "cosmos1fxudpred77a0grgh69u0j7y84yks5ev4n5050z45kecz792jnd6scqu98z";
const condition = (value: string, op = '"eq"', field = '"a"'): string =>
  `[{"field":${field},"op":${op},"value":${value}}]`;

const VALID: readonly string[] = [
  `[{"field":"transfer.recipient","op":"Eq","value":"${ADDRESS}"},{"field":"tx.height","op":"Gte","value":100}]`,
  ...["Eq", "Gt", "Gte", "Lt", "Lte"].map((op) => condition("1000", `"${op}"`, '"tx.height"')),
  "null",
  "[] ",
  " \n[\t]\r",
  '[{"FIELD":"a","Op":"EQ","VALUE":"x"}]',
  '[{"field":"a","op":"eq","value":"x","extra":{"deep":[1]}}]',
  '[{"field":"=","field":"a","op":"zz","op":"eq","value":true,"value":"x"}]',
  '[{"field":"a","field":null,"op":"eq","value":"x"}]',
  ...[
    "-1",
    "1.0",
    "1e3",
    "1.5e1",
    "-0",
    "9223372036854774784",
    "-9223372036854775808",
    "9007199254740993",
    '""',
  ].map((value) => condition(value)),
  condition('"a\\"=>"'),
  condition('"x"', '"eq"', '"a b"'),
  condition('"x"', '"eq"', '"\\u0000"'),
  condition('"x"', '"eq"', '"\\u000b"'),
];

const SPECIAL = "special symbols \t\n\r\\()\"'=>< are not allowed";
const notInt = (value: string): string => `value ${value} can't be a decimal number`;
const kind = (value: string): string => `value '${value}' is expected to be on of: string, number`;
const operator = (op: string): string => `op '${op}' is expected to be one of: eq, gt, gte, lt, lte`;
const json = (text: string): string => `failed to unmarshal transactions filter: ${text}`;
const at = (text: string): string => `transactions filter condition idx=0 is invalid: ${text}`;
const LIST = "into Go value of type types.TransactionsFilter";

const INVALID: readonly (readonly [filter: string, text: string])[] = [
  ["", json("unexpected end of JSON input")],
  ['[{"field":"a","op":"eq","value":1', json("unexpected end of JSON input")],
  ["nope", json("invalid character 'o' in literal null (expecting 'u')")],
  ["&)(^Y(*&(*&(&(*", json("invalid character '&' looking for beginning of value")],
  ["\ufeff[]", json("invalid character 'ï' looking for beginning of value")],
  ["[]x", json("invalid character 'x' after top-level value")],
  ["[1 2]", json("invalid character '2' after array element")],
  ['[{"a" 1}]', json("invalid character '1' after object key")],
  ['[{"a":1 2}]', json("invalid character '2' after object key:value pair")],
  ["[{a:1}]", json("invalid character 'a' looking for beginning of object key string")],
  ['["\\x"]', json("invalid character 'x' in string escape code")],
  ['["\\u12g4"]', json("invalid character 'g' in \\u hexadecimal character escape")],
  ['["\n"]', json("invalid character '\\n' in string literal")],
  ["[1.]", json("invalid character ']' after decimal point in numeric literal")],
  ["[1e]", json("invalid character ']' in exponent of numeric literal")],
  ["[-]", json("invalid character ']' in numeric literal")],
  ["[']", json("invalid character '\\'' looking for beginning of value")],
  [condition("01"), json("invalid character '1' after object key:value pair")],
  [condition("+1"), json("invalid character '+' looking for beginning of value")],
  [condition("NaN"), json("invalid character 'N' looking for beginning of value")],
  [condition("'x'"), json("invalid character '\\'' looking for beginning of value")],
  ["[".repeat(10_001), json("invalid character '[' exceeded max depth")],
  ["{}", json(`json: cannot unmarshal object ${LIST}`)],
  ["1", json(`json: cannot unmarshal number ${LIST}`)],
  ["true", json(`json: cannot unmarshal bool ${LIST}`)],
  ['"x"', json(`json: cannot unmarshal string ${LIST}`)],
  ["[1]", json(`json: cannot unmarshal number ${LIST}Item`)],
  [
    condition("1", '"eq"', "1"),
    json("json: cannot unmarshal number into Go struct field TransactionsFilterItem.field of type string"),
  ],
  [
    condition("1", "[]"),
    json("json: cannot unmarshal array into Go struct field TransactionsFilterItem.op of type string"),
  ],
  [
    condition("[1e400]"),
    json(
      "json: cannot unmarshal number 1e400 into Go struct field TransactionsFilterItem.value of type float64",
    ),
  ],
  ["[null]", at("field couldn't be empty")],
  ['[{"op":"eq","value":1}]', at("field couldn't be empty")],
  [condition("1", '"eq"', "null"), at("field couldn't be empty")],
  ...["\\t", "\\n", "\\r", "\\\\", "(", ")", '\\"', "'", "=", ">", "<"].map(
    (character) => [condition("1", '"eq"', `"transfer.${character}"`), at(SPECIAL)] as const,
  ),
  [condition("15.5"), at(notInt("15.5"))],
  [condition("1e-3"), at(notInt("0.001"))],
  [condition("-0.5"), at(notInt("-0.5"))],
  [condition("1e-7"), at(notInt("1e-07"))],
  [condition("1234567.5"), at(notInt("1.2345675e+06"))],
  [condition("9223372036854775807"), at(notInt("9.223372036854776e+18"))],
  [condition("1e19"), at(notInt("1e+19"))],
  [condition("null"), at(kind("<nil>"))],
  ['[{"field":"a","op":"eq"}]', at(kind("<nil>"))],
  [condition("true"), at(kind("true"))],
  [condition('[1,"b"]'), at(kind("[1 b]"))],
  [condition('{"k":1}'), at(kind("map[k:1]"))],
  [condition('{"z":[null,{}],"b":1e6,"b":2}'), at(kind("map[b:2 z:[<nil> map[]]]"))],
  [condition("1", '""'), at(operator(""))],
  [condition("1", '" eq"'), at(operator(" eq"))],
  [condition("1", '"ne"'), at(operator("ne"))],
  [condition("15.5", '"zz"', '"="'), at(SPECIAL)],
  [condition("15.5", '"zz"', '""'), at("field couldn't be empty")],
  [condition("15.5", '"zz"'), at(notInt("15.5"))],
  [`[${Array(40).fill("null").join(",")}]`, "too many transactions filters, provided=40, max=32"],
];

describe("transactions filter", () => {
  it.each(VALID.map((filter) => [filter.slice(0, 80), filter]))("accepts %j", (_title, filter) => {
    expect(() => validateTransactionsFilter(filter, 32n)).not.toThrow();
  });

  it.each(INVALID.map((row) => [row[0].slice(0, 80), ...row]))("rejects %j", (_title, filter, text) => {
    const error = errorOf(() => validateTransactionsFilter(filter, 32n));
    expect(`${error.codespace}/${error.code}`).toBe("interchainqueries/1106");
    expect(error.message).toBe(`${text}: invalid transactions filter`);
  });

  it("checks the count before the items, and accepts no item with a limit of 0", () => {
    expect(() => validateTransactionsFilter("[]", 0n)).not.toThrow();
    expect(errorOf(() => validateTransactionsFilter("[null]", 0n)).message).toContain("provided=1, max=0");
  });

  it("accepts 32 conditions", () => {
    const items = Array.from({ length: 32 }, (_, index) => ({ field: `f${index}`, op: "lte", value: index }));
    expect(() => validateTransactionsFilter(JSON.stringify(items), 32n)).not.toThrow();
  });

  it("checks values that nest as deep as Go allows", () => {
    const value = `${"[".repeat(9_000)}${"]".repeat(9_000)}`;
    expect(errorOf(() => validateTransactionsFilter(condition(value), 32n)).message).toContain(
      "is expected to be on of",
    );
  });
});

function errorOf(work: () => void): ModuleError {
  try {
    work();
  } catch (error) {
    if (error instanceof ModuleError) return error;
    throw error;
  }
  throw new Error("no error was thrown");
}
