import { MEASURED } from './measured.ts'
import { optionsOf } from './options.ts'
import { tableOf } from './table.ts'

const RUN = /```text\n\$ npm run simulate(?: --(?<args> [^\n]*))?\n(?<table>[^`]*)```/g

/** The page with what each of the commands that it shows prints now. */
export const renewedPage = (page: string): string =>
  page.replaceAll(RUN, (_whole, args: string | undefined) => {
    const words = (args ?? '').trim().split(/\s+/).filter(Boolean)
    const command = ['$ npm run simulate', ...(args === undefined ? [] : [`--${args}`])].join(' ')
    return `\`\`\`text\n${command}\n${tableOf(optionsOf(words).plans, MEASURED)}\n\`\`\``
  })

export const runsOn = (page: string): number => [...page.matchAll(RUN)].length
