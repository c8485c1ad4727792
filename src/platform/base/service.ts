import { isAbort, onAbort } from "./abort.ts";
import type { Logger } from "./logger.ts";

/** A long-running part of a process, which must run until its signal aborts. An earlier return is treated as an error. */
export interface Service {
  readonly name: string;
  /** Runs until the signal aborts, and closes everything that it opened before it resolves. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

export interface ServiceError {
  readonly service: string;
  readonly error: unknown;
}

/**
 * Runs all services until `signal` aborts or one of them ends, then stops the remaining services and waits for them. Returns all
 * errors in chronological order, or an empty list if `signal` stopped the services cleanly.
 */
export async function supervise(
  services: readonly Service[],
  signal: AbortSignal,
  logger: Logger,
): Promise<readonly ServiceError[]> {
  const stop = new AbortController();
  const unwatch = onAbort(signal, (reason) => stop.abort(reason));
  const errors: ServiceError[] = [];
  const recordError = (service: string, error: unknown): void => {
    errors.push({ service, error });
    // Log at debug level only: the caller receives all errors and reports them.
    logger.debug("service failed", { service, error });
    stop.abort(new Error(`${service} failed`, { cause: error }));
  };
  await Promise.all(
    services.map(async (service) => {
      try {
        await service.run(stop.signal);
        if (!stop.signal.aborted) recordError(service.name, new Error(`${service.name} ended unexpectedly`));
      } catch (error) {
        if (!stop.signal.aborted || !isAbort(error, stop.signal)) recordError(service.name, error);
      }
    }),
  );
  unwatch();
  return errors;
}

export function throwFirst(errors: readonly ServiceError[]): void {
  const [first] = errors;
  if (first !== undefined) throw first.error;
}
