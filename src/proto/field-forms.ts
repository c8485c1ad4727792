import { type DescEnumValue, type DescExtension, type DescField, getOption } from "@bufbuild/protobuf";
import { unreachable } from "../base/errors.ts";
import { protoRegistry } from "./registry.ts";

/** How a Go node prints a field, where its wire type does not tell. */
export interface FieldForm {
  /** Text or bytes that hold a number: an 18-digit decimal as its integer digits, or an integer. */
  readonly number: "dec" | "int" | undefined;
  /** Bytes that are not printed as base64. */
  readonly bytes: "hex" | "raw" | undefined;
  /** A message held by value: its defaults are printed and written. */
  readonly neverNull: boolean;
  /** An absent number is null, not zero. */
  readonly nullWhenEmpty: boolean;
}

const JSON_FORM_HEX = 1;
const JSON_FORM_RAW = 2;
const forms = new WeakMap<DescField, FieldForm>();

/** The form of a field, from the options in its definition. */
export function formOf(field: DescField): FieldForm {
  let form = forms.get(field);
  if (form === undefined) {
    form = readForm(field);
    forms.set(field, form);
  }
  return form;
}

/** The name of an enum value in JSON. */
export function jsonNameOf(value: DescEnumValue): string {
  const name = getOption(value, extension("relaywatch.json_name"));
  return typeof name === "string" && name !== "" ? name : value.name;
}

function readForm(field: DescField): FieldForm {
  const scalar = getOption(field, extension("cosmos_proto.scalar"));
  const jsonForm = getOption(field, extension("relaywatch.json_form"));
  return {
    number: scalar === "cosmos.Dec" ? "dec" : scalar === "cosmos.Int" ? "int" : undefined,
    bytes: jsonForm === JSON_FORM_HEX ? "hex" : jsonForm === JSON_FORM_RAW ? "raw" : undefined,
    neverNull: getOption(field, extension("relaywatch.never_null")) === true,
    nullWhenEmpty: getOption(field, extension("relaywatch.null_when_empty")) === true,
  };
}

function extension(name: string): DescExtension {
  return protoRegistry().getExtension(name) ?? unreachable(`no option ${name} in the definitions`);
}
