import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** A folder that goes when it is disposed of, or with a signal that ends the program. */
export async function temporaryFolder(
  prefix: string,
): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), prefix))
  const onSignal = (signal: NodeJS.Signals): void => {
    rmSync(path, { recursive: true, force: true })
    forget()
    process.kill(process.pid, signal)
  }
  const forget = (): void => {
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  return {
    path,
    async [Symbol.asyncDispose]() {
      forget()
      await rm(path, { recursive: true, force: true })
    },
  }
}
