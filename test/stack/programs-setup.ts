import { requirePrograms } from "../support/stack/programs.ts";

/** Finds or installs what the tests of this folder run, and prints the versions. Fails when a program is missing. */
export function setup(): void {
  requirePrograms();
}
