import { abortReason, isAbort } from "./abort.ts";
import type { Logger } from "./logger.ts";

/** Something that runs until its signal fires. Returning before that, or throwing, is an error. */
export interface Service {
  readonly name: string;
  /** Runs; resolves soon after the signal fires, with everything it opened closed. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** An error of one supervised service. */
export interface ServiceError {
  readonly service: string;
  readonly error: unknown;
}

/**
 * Runs all services until `signal` fires or one of them ends; then stops the rest and waits for them.
 * Returns every error, the first one first; an empty list means that all stopped because they were asked to.
 */
export async function supervise(
  services: readonly Service[],
  signal: AbortSignal,
  logger: Logger,
): Promise<readonly ServiceError[]> {
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(abortReason(signal));
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  const errors: ServiceError[] = [];
  const note = (service: string, error: unknown): void => {
    errors.push({ service, error });
    // The caller gets all errors and says what matters.
    logger.debug("service failed", { service, error });
    stop.abort(new Error(`${service} failed`, { cause: error }));
  };
  await Promise.all(
    services.map(async (service) => {
      try {
        await service.run(stop.signal);
        if (!stop.signal.aborted)
          note(service.name, new Error(`${service.name} ended without being asked to`));
      } catch (error) {
        if (!stop.signal.aborted || !isAbort(error, stop.signal)) note(service.name, error);
      }
    }),
  );
  signal.removeEventListener("abort", onAbort);
  return errors;
}
