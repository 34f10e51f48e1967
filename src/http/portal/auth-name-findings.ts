import type { AppContext } from '#context'
import { type Finding, Findings, reasonOf } from '#platform/diagnosis/finding.ts'
import { compareAddresses } from '#platform/dns/name-addresses.ts'
import type { SiteRecord } from '#sites/model.ts'

type FindingContext = Pick<AppContext, 'sites' | 'callbackChecks' | 'providers'>

/** What is left to do about the sign-ins of visitors that are on names of their own, or were. Never rejects. */
export async function authNameFindings(context: FindingContext): Promise<readonly Finding[]> {
  try {
    const sites = await context.sites.withAuthNames()
    return (await Promise.all(sites.map((site) => findingsOf(context, site)))).flat()
  } catch (error) {
    const says = `the sign-ins of visitors were not looked at: ${reasonOf(error)}`
    return new Findings('sign-in').warning(says, 'Ask again later').all
  }
}

async function findingsOf(context: FindingContext, site: SiteRecord): Promise<readonly Finding[]> {
  const findings = new Findings('sign-in')
  await judgeName(findings, site)
  await judgeCallback(findings, context, site)
  const { domain, formerAuthDomains } = site
  if (formerAuthDomains.length > 0) {
    findings.warning(
      `programs may still sign visitors of ${domain} in at ${formerAuthDomains.join(', ')}`,
      `croft site update ${domain} --end-former-auth, when all of them use the issuer of now`,
    )
  }
  return findings.all
}

async function judgeName(findings: Findings, { domain, authDomain }: SiteRecord): Promise<void> {
  if (authDomain === null) return
  const place = await compareAddresses(authDomain, domain)
  if (place === 'same') findings.ok(`${authDomain} leads where ${domain} does`)
  if (place === 'nowhere') {
    findings.problem(
      `${authDomain} does not resolve: visitors of ${domain} cannot sign in`,
      `Give it the DNS records of ${domain}, or croft site update ${domain} --auth-domain none`,
    )
  }
  if (place === 'elsewhere') {
    findings.warning(
      `${authDomain} leads to other addresses than ${domain}`,
      'Check that both are names of this installation, with certificates',
    )
  }
}

/** Changes over to the callback of now as soon as the provider knows it. */
async function judgeCallback(
  findings: Findings,
  { callbackChecks, providers }: FindingContext,
  site: SiteRecord,
): Promise<void> {
  const { domain } = site
  const [google] = await providers.list(site)
  if (google?.enabled !== true || google.redirectUri === google.redirectUriInUse) return
  const { redirectUri, registered } = await callbackChecks.check(site)
  if (registered === true) {
    findings.ok(`sign-ins with Google at ${domain} use ${redirectUri} from now on`)
    return
  }
  findings.warning(
    registered === false
      ? `Google does not know ${redirectUri}: sign-ins at ${domain} go on with ${google.redirectUriInUse}`
      : `Google does not say whether it knows ${redirectUri}`,
    'Register it as a redirect URI of the client there, then run croft doctor again',
  )
}
