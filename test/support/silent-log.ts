import type { Logger } from '#platform/log/logger.ts'

const nothing = (): void => {}

/** For parts under test whose words do not matter. */
export const silentLog: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  fatal: nothing,
  child: () => silentLog as never,
}
