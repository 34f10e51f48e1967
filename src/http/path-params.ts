import { Type } from '@sinclair/typebox'

/** A name in a path or query: PostgreSQL takes no NUL. */
export const NameText = Type.String({
  maxLength: 128,
  pattern: '^[^\\u0000]*$',
  fault: 'must be at most 128 characters, none of them NUL',
})

/** An id, or the site's domain. */
export const SitePath = Type.Object({ siteId: Type.String({ maxLength: 253 }) })

export const DeploymentPath = Type.Composite([
  SitePath,
  Type.Object({ deploymentId: Type.String({ maxLength: 64 }) }),
])

export const PoolPath = Type.Object({ userPoolId: Type.String({ maxLength: 128 }) })

export const UserPath = Type.Object({ userId: NameText })

/** An address of the site's domain, percent-encoded. */
export const AddressPath = Type.Object({ address: Type.String({ maxLength: 512 }) })

export const SiteAddressPath = Type.Composite([SitePath, AddressPath])

const CredentialName = Type.Object({ credentialId: NameText })
export const CredentialPath = Type.Composite([AddressPath, CredentialName])

export const MessagePath = Type.Object({ messageId: NameText })
