import {
  type DescEnumValue,
  type DescExtension,
  type DescField,
  type DescMessage,
  getOption,
} from "@bufbuild/protobuf";
import { unreachable } from "../../platform/base/errors.ts";
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
  /** The form that amino signs (`amino` options). */
  readonly amino: AminoForm;
  /** The Go field is a pointer to a number. An absent number is printed as null instead of "0". */
  readonly nullWhenEmpty: boolean;
  /** A query parameter holds the message as proto JSON. */
  readonly queryJson: boolean;
}

interface AminoForm {
  /** `amino.field_name`, or the name of the field. */
  readonly name: string;
  /** `amino.encoding`, e.g. "legacy_coins". */
  readonly encoding: string | undefined;
  /** `amino.dont_omitempty`: the field is written also with its default value. */
  readonly always: boolean;
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

const goJson = new WeakMap<DescMessage, boolean>();

/** Whether Go's `encoding/json` prints a message with everything in it. */
export function isGoJson(message: DescMessage): boolean {
  let is = goJson.get(message);
  if (is === undefined) {
    is = getOption(message, extensionOf("relaywatch.go_json")) === true;
    goJson.set(message, is);
  }
  return is;
}

/** Returns the name of an enum value in JSON. */
export function jsonNameOf(value: DescEnumValue): string {
  const name = getOption(value, extensionOf("relaywatch.json_name"));
  return typeof name === "string" && name !== "" ? name : value.name;
}

function readForm(field: DescField): FieldForm {
  const scalar = getOption(field, extensionOf("cosmos_proto.scalar"));
  const isPrecDec = getOption(field, extensionOf("relaywatch.prec_dec")) === true;
  const jsonForm = getOption(field, extensionOf("relaywatch.json_form"));
  return {
    number: isPrecDec ? "prec-dec" : typeof scalar === "string" ? NUMBER_FORMS[scalar] : undefined,
    bytes: jsonForm === JSON_FORM_HEX ? "hex" : jsonForm === JSON_FORM_RAW ? "raw" : undefined,
    amino: readAmino(field),
    neverNull: getOption(field, extensionOf("relaywatch.never_null")) === true,
    nullWhenEmpty: getOption(field, extensionOf("relaywatch.null_when_empty")) === true,
    queryJson: getOption(field, extensionOf("relaywatch.query_json")) === true,
  };
}

function readAmino(field: DescField): AminoForm {
  const [name, encoding] = [
    getOption(field, extensionOf("amino.field_name")),
    getOption(field, extensionOf("amino.encoding")),
  ];
  return {
    name: typeof name === "string" && name !== "" ? name : field.name,
    encoding: typeof encoding === "string" && encoding !== "" ? encoding : undefined,
    always: getOption(field, extensionOf("amino.dont_omitempty")) === true,
  };
}

/** Returns an option of the definitions by its name, e.g. `amino.name`. */
export function extensionOf(name: string): DescExtension {
  return protoRegistry().getExtension(name) ?? unreachable(`no option ${name} in the definitions`);
}
