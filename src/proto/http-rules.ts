import { type DescMethod, getOption, hasOption, isMessage } from "@bufbuild/protobuf";
import { isReflectList, isReflectMessage, reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { unreachable } from "../base/errors.ts";
import { protoRegistry, requireMessage } from "./registry.ts";

/** One REST route of a gRPC method. `template` is a `google.api.http` path, e.g. `/cosmos/bank/v1beta1/balances/{address}`. */
export interface HttpRule {
  readonly method: "GET" | "POST" | "PUT" | "DELETE" | "PATCH";
  readonly template: string;
  /** Canonical full name of the service, and the rpc in it. */
  readonly service: string;
  readonly rpc: string;
  readonly requestType: string;
  readonly responseType: string;
  /** "" when the request comes from path and query only, "*" when the body is the whole request. */
  readonly body: "" | "*";
}

const VERBS = { get: "GET", post: "POST", put: "PUT", delete: "DELETE", patch: "PATCH" } as const;

let rules: readonly HttpRule[] | undefined;

/** Every REST route of the definitions in canonical form, services in the order of their files. */
export function httpRules(): readonly HttpRule[] {
  rules ??= [...protoRegistry()]
    .filter((desc) => desc.kind === "service")
    .flatMap((service) => service.methods.flatMap(methodRules));
  return rules;
}

function methodRules(method: DescMethod): readonly HttpRule[] {
  const option = protoRegistry().getExtension("google.api.http") ?? unreachable("no option google.api.http");
  if (!hasOption(method, option)) return [];
  const value: unknown = getOption(method, option);
  if (!isMessage(value)) return unreachable(`the http option of ${method.name} is no message`);
  const rule = reflect(requireMessage("google.api.HttpRule"), value);
  return [rule, ...additional(rule)].map((each) => toRule(method, each));
}

function additional(rule: ReflectMessage): readonly ReflectMessage[] {
  const list = valueOf(rule, "additional_bindings");
  return isReflectList(list) ? [...list].filter((item) => isReflectMessage(item)) : [];
}

function toRule(method: DescMethod, rule: ReflectMessage): HttpRule {
  const pattern = rule.oneofs.map((oneof) => rule.oneofCase(oneof)).find((field) => field !== undefined);
  const verb = Object.entries(VERBS).find(([name]) => name === pattern?.name)?.[1];
  const template = pattern === undefined ? undefined : rule.get(pattern);
  const body = valueOf(rule, "body");
  if (verb === undefined || typeof template !== "string" || (body !== "" && body !== "*")) {
    return unreachable(`the http option of ${method.parent.typeName}/${method.name} is not understood`);
  }
  return {
    method: verb,
    template,
    service: method.parent.typeName,
    rpc: method.name,
    requestType: method.input.typeName,
    responseType: method.output.typeName,
    body,
  };
}

function valueOf(message: ReflectMessage, name: string): unknown {
  const field = message.fields.find((each) => each.name === name) ?? unreachable(`no field ${name}`);
  return message.get(field);
}
