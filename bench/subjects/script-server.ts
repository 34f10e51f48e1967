import { fileURLToPath } from 'node:url'

import { startChild } from '#bench/child-process.ts'

export interface ScriptServer extends AsyncDisposable {
  readonly origin: string
  readonly pid: number
}

/** A server of this folder, which says its port on its first line. */
export async function startScriptServer(
  command: readonly [string, ...string[]],
  script: string,
): Promise<ScriptServer> {
  const [executable, ...args] = command
  const path = fileURLToPath(new URL(script, import.meta.url))
  const child = startChild(executable, [...args, path])
  const port = await child.line((line) => /^port (\d+)$/.exec(line)?.[1])
  return {
    origin: `http://127.0.0.1:${port}`,
    pid: child.pid,
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  }
}
