import { cpus, loadavg, totalmem } from "node:os";

/** Where and when a run was made. */
export interface Machine {
  readonly date: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryMb: number;
  readonly platform: string;
  readonly node: string;
  /** Load average of the minute before the run. A load above `cores` disturbs the figures. */
  readonly loadBefore: number;
}

/** Describes this machine. */
export function describeMachine(): Machine {
  const all = cpus();
  return {
    date: new Date().toISOString(),
    cpu: all[0]?.model.trim() ?? "unknown",
    cores: all.length,
    memoryMb: Math.round(totalmem() / 1_048_576),
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
    loadBefore: Math.round((loadavg()[0] ?? 0) * 10) / 10,
  };
}

/** Formats the description in one line. */
export function machineText(machine: Machine): string {
  const { cpu, cores, memoryMb, platform, node, loadBefore, date } = machine;
  return `${cpu}, ${cores} cores, ${memoryMb} MB, ${platform}, Node ${node}, load ${loadBefore}, ${date}`;
}
