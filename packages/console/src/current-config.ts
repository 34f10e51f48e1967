import type { ConsoleConfig } from './console-config.ts'

let current: ConsoleConfig | undefined

export function provideConfig(config: ConsoleConfig): void {
  current = config
}

/** What the server says about itself. `main.tsx` reads it before anything is rendered. */
export function currentConfig(): ConsoleConfig {
  if (current === undefined) throw new Error('The page has not been read yet')
  return current
}
