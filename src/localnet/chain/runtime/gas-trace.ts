import type { StartTrace } from "../../vm/hooks.ts";
import type { Context, ChainModule, MessageHandler, QueryHandler } from "./context.ts";
import type { TxRules } from "./tx-runner.ts";

/** Kind of work that a span covers, i.e. a transaction step, a message, a contract call, a query, or an entry point of WebAssembly code. */
export type SpanKind = "step" | "message" | "contract" | "query" | "wasm";

/** Records how much gas each part of a transaction consumes, without changing any result. */
export interface GasTracer {
  /** Returns the trace for the next call of a WebAssembly contract, or undefined if the call is not traced. */
  readonly call: () => StartTrace | undefined;
  /** Runs `work` in a span, so that the gas consumed by `work` is recorded under the span's name. `name` is called only while tracing. */
  readonly span: <T>(
    context: Context,
    kind: SpanKind,
    name: () => string,
    work: (context: Context) => T,
  ) => T;
}

/** The default tracer, which records nothing. */
export const UNTRACED: GasTracer = {
  call: () => undefined,
  span: (context, _kind, _name, work) => work(context),
};

/** Returns rules that trace each step of a transaction as a span. */
export function tracedRules(rules: TxRules, { span }: GasTracer): TxRules {
  const { ante, post } = rules;
  return {
    ...rules,
    ante: (context, tx, environment) =>
      span(
        context,
        "step",
        () => "ante handler",
        (inner) => ante(inner, tx, environment),
      ),
    post: (context, tx, environment) =>
      span(
        context,
        "step",
        () => "post handler: fee settlement",
        (inner) => post(inner, tx, environment),
      ),
  };
}

/** Returns a module whose messages and queries are traced as spans, whether they were sent by a transaction or by a contract. */
export function tracedModule(module: ChainModule, tracer: GasTracer): ChainModule {
  return {
    ...module,
    messages: module.messages.map((handler) => tracedMessage(handler, tracer)),
    queries: module.queries.map((handler) => tracedQuery(handler, tracer)),
  };
}

function tracedMessage(handler: MessageHandler, { span }: GasTracer): MessageHandler {
  const name = (): string => handler.typeUrl.slice(1);
  return {
    ...handler,
    handle: (context, message) => span(context, "message", name, (inner) => handler.handle(inner, message)),
  };
}

function tracedQuery(handler: QueryHandler, { span }: GasTracer): QueryHandler {
  const name = (): string => handler.path.slice(1);
  return {
    ...handler,
    query: (context, request) => span(context, "query", name, (inner) => handler.query(inner, request)),
  };
}
