import { readConsoleConfig } from '#app/console-config.ts'

/** The domain of the site that the console is for. */
export const siteDomain = (): string => readConsoleConfig(document).domain
