import { setTimeout as pause } from 'node:timers/promises'

/** Asks again until the answer is true; rejects after `timeoutMs`, naming what it waited for. */
export async function waitUntil(
  what: string,
  ask: () => Promise<boolean>,
  timeoutMs = 60_000,
): Promise<void> {
  const endMs = performance.now() + timeoutMs
  while (!(await ask())) {
    if (performance.now() > endMs) throw new Error(`no ${what} within ${timeoutMs / 1000} s`)
    await pause(10)
  }
}
