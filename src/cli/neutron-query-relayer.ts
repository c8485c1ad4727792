#!/usr/bin/env node
import { runProcess } from "../platform/cli/run-process.ts";
import { createGoProgram } from "./go-program.ts";

await runProcess("neutron_query_relayer", createGoProgram);
