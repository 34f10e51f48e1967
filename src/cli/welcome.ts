import { existsSync } from 'node:fs'

import type { FirstRunResult } from '#sites/first-run/first-run.ts'

const HELLO = `-H 'content-type: application/json' -d '{"payload":{"name":"Ada"}}'`

/** Where an installation has the command line: see docs/how-to/install.md and the Dockerfile. */
const INSTALLED = '/usr/local/bin/croft'

/** What the terminal shows after the first start: every line in it can be pasted and works. */
export function welcome(
  { domain, baseUrl, mailbox, onboarding, fault }: FirstRunResult,
  at: {
    readonly baseUrl: string
    readonly smtpPort: number | undefined
    /** `croft` where it is installed, else `npx croft`, which Croft's own folder has. */
    readonly command: 'croft' | 'npx croft'
  },
): string {
  const { baseUrl: base, command } = at
  const reached = new URL(base).hostname === domain
  const host = reached ? '' : ` -H 'host: ${new URL(baseUrl).host}'`
  const url = (path: string): string => `${base}${path}${host}`
  const admin = onboarding[0]
  return [
    '',
    `Croft is running at ${base}`,
    '',
    ...(fault === undefined
      ? [
          `Its first site is "${domain}", made from examples/hello-site. Try it:`,
          '',
          `  curl ${url('/')}   # its page${reached ? `; ${base}/ in a browser` : ''}`,
          `  curl -X POST ${url('/data/public/hello')} ${HELLO}`,
          `  curl -i -X POST ${url('/data/public/hello')} ${HELLO}   # again: X-Cache: HIT`,
          `  curl -X POST ${url('/data/public/time')} -H 'content-type: application/json' -d '{}'`,
        ]
      : [`Its first site is "${domain}". The example could not be deployed: ${fault}`]),
    ...(admin === undefined
      ? []
      : [
          '',
          `The account of its super-admin, ${admin.email}, waits at this link (shown this once, good for 7 days):`,
          '',
          `  ${admin.url}`,
          '',
          command === 'croft' ? 'As its admin:' : 'As its admin, from this folder:',
          '',
          `  TOKEN=$(${command} token ${domain} --user ${admin.email})`,
          `  curl ${url('/admin/data/resources')} -H "authorization: Bearer $TOKEN"`,
          `  ${command} site verify ${domain}`,
          `  ${command} mailbox show ${mailbox}`,
        ]),
    ...(at.smtpPort === undefined
      ? []
      : [
          '',
          `Mail to ${mailbox}, its first mailbox, with swaks; then it can be read:`,
          '',
          `  swaks --server 127.0.0.1:${at.smtpPort} --from ann@${domain} --to ${mailbox} --h-Subject Hello --body 'It works'`,
          `  ${command} mail show ${mailbox}`,
          ...(admin === undefined
            ? []
            : [
                `  curl '${base}/admin/api/messages?mailbox=${mailbox}'${host} -H "authorization: Bearer $TOKEN"`,
              ]),
        ]),
    '',
  ].join('\n')
}

/** How the command line is called on this machine. */
export const commandHere = (): 'croft' | 'npx croft' =>
  existsSync(INSTALLED) ? 'croft' : 'npx croft'
