import type { CDPSession, Page } from 'playwright-core'

/** A device of Chromium's that holds passkeys. */
interface Device {
  readonly cdp: CDPSession
  readonly authenticatorId: string
}

/** Its owner touches it at once, and is verified unless an option says otherwise. */
export async function deviceOf(page: Page, { verified = true } = {}): Promise<Device> {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: verified,
      automaticPresenceSimulation: true,
    },
  })
  return { cdp, authenticatorId }
}
