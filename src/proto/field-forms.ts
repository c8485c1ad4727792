import { type DescEnumValue, type DescExtension, type DescField, getOption } from "@bufbuild/protobuf";
import { unreachable } from "../base/errors.ts";
import type { NumberForm } from "./number-text.ts";
import { protoRegistry } from "./registry.ts";

/** The part of a field's JSON form that its wire type does not determine. */
export interface FieldForm {
  /** Set if the string or bytes hold the digits of a number. */
  readonly number: NumberForm | undefined;
  /** Bytes printed as upper-case hex, or as the JSON text that they hold. Undefined is base64. */
  readonly bytes: "hex" | "raw" | undefined;
  /** The Go field is not a pointer (`gogoproto.nullable = false`). An absent message is printed and written with its defaults. */
  readonly neverNull: boolean;
  /** The Go field is a pointer to a number. An absent number is printed as null instead of "0". */
  readonly nullWhenEmpty: boolean;
  /** A query parameter holds the message as proto JSON. */
  readonly queryJson: boolean;
}

/** Number forms by the value of `cosmos_proto.scalar`. */
const NUMBER_FORMS: Readonly<Record<string, NumberForm>> = { "cosmos.Dec": "dec", "cosmos.Int": "int" };
/** Values of `relaywatch.JsonForm` in the definitions. */
const JSON_FORM_HEX = 1;
const JSON_FORM_RAW = 2;
// Options are decoded at every read, so each field's form is read once.
const forms = new WeakMap<DescField, FieldForm>();

/** Returns the form that the options of a field declare. */
export function formOf(field: DescField): FieldForm {
  let form = forms.get(field);
  if (form === undefined) {
    form = readForm(field);
    forms.set(field, form);
  }
  return form;
}

/** Returns the name of an enum value in JSON. */
export function jsonNameOf(value: DescEnumValue): string {
  const name = getOption(value, extension("relaywatch.json_name"));
  return typeof name === "string" && name !== "" ? name : value.name;
}

function readForm(field: DescField): FieldForm {
  const scalar = getOption(field, extension("cosmos_proto.scalar"));
  const isPrecDec = getOption(field, extension("relaywatch.prec_dec")) === true;
  const jsonForm = getOption(field, extension("relaywatch.json_form"));
  return {
    number: isPrecDec ? "prec-dec" : typeof scalar === "string" ? NUMBER_FORMS[scalar] : undefined,
    bytes: jsonForm === JSON_FORM_HEX ? "hex" : jsonForm === JSON_FORM_RAW ? "raw" : undefined,
    neverNull: getOption(field, extension("relaywatch.never_null")) === true,
    nullWhenEmpty: getOption(field, extension("relaywatch.null_when_empty")) === true,
    queryJson: getOption(field, extension("relaywatch.query_json")) === true,
  };
}

function extension(name: string): DescExtension {
  return protoRegistry().getExtension(name) ?? unreachable(`no option ${name} in the definitions`);
}
