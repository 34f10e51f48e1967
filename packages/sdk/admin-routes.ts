// Written by "npm run sdk:routes" from the declarations of the routes: do not edit.

/** By method and path: what a route of the admin API takes, and what it answers. Dates are texts (RFC 3339). */
export interface AdminRoutes {
  readonly get: {
    /** Redirect to the page of the account. */
    "/admin": { readonly response: Response }
    /** List aliases. */
    "/admin/api/aliases": { readonly query?: { readonly limit?: string; readonly nextToken?: string }; readonly response: { readonly items: ReadonlyArray<{ readonly address: string; readonly targets: ReadonlyArray<string> }>; readonly nextToken: string | null } }
    /** Get the texts of the emails with codes. */
    "/admin/api/auth-email-branding": { readonly response: { readonly siteId: string; readonly authEmailBranding: { readonly adminVerificationEmail: { readonly subject: string; readonly htmlBody: string } | null; readonly dataVerificationEmail: { readonly subject: string; readonly htmlBody: string } | null }; readonly messageTypes: ReadonlyArray<string> } }
    /** List recipients of the contact form. */
    "/admin/api/contact-recipients": { readonly query?: { readonly limit?: string; readonly nextToken?: string }; readonly response: { readonly items: ReadonlyArray<{ readonly email: string; readonly createdAt: string; readonly updatedAt: string }>; readonly nextToken: string | null } }
    /** List deploy tokens. */
    "/admin/api/deploy-tokens": { readonly response: { readonly items: ReadonlyArray<{ readonly tokenId: string; readonly name: string; readonly scopes: ReadonlyArray<"deploy" | "logs" | "iac">; readonly createdBy: string; readonly createdAt: string; readonly expiresAt: string | null; readonly lastUsedAt: string | null }>; readonly nextToken: string | null } }
    /** List suppressed addresses. */
    "/admin/api/mail-suppressions": { readonly query?: { readonly limit?: string; readonly nextToken?: string }; readonly response: { readonly items: ReadonlyArray<{ readonly address: string; readonly reason: "BOUNCE"; readonly detail: string; readonly createdAt: string }>; readonly nextToken: string | null } }
    /** List mailboxes. */
    "/admin/api/mailboxes": { readonly query?: { readonly limit?: string; readonly nextToken?: string }; readonly response: { readonly items: ReadonlyArray<{ readonly address: string; readonly status: "ACTIVE" | "DISABLED"; readonly owners: ReadonlyArray<string> }>; readonly nextToken: string | null } }
    /** Get how a mailbox forwards. */
    "/admin/api/mailboxes/{address}/forwarding": { readonly params: { readonly address: string }; readonly response: { readonly mailbox: string; readonly enabled: boolean; readonly keepCopy: boolean; readonly targets: ReadonlyArray<{ readonly target: string; readonly status: "PENDING" | "VERIFIED" }> } }
    /** List forwarding targets of a mailbox. */
    "/admin/api/mailboxes/{address}/forwarding-targets": { readonly params: { readonly address: string }; readonly query?: { readonly limit?: string; readonly nextToken?: string }; readonly response: { readonly mailbox: string; readonly items: ReadonlyArray<{ readonly target: string; readonly status: "PENDING" | "VERIFIED"; readonly createdAt: string }>; readonly nextToken: string | null } }
    /** Get the settings of a mailbox. */
    "/admin/api/mailboxes/{address}/settings": { readonly params: { readonly address: string }; readonly response: { readonly mailbox: string; readonly trashAutoPurge: boolean; readonly trashRetentionDays: number; readonly quotaBytes: number | null; readonly quotaMessages: number | null; readonly usage: { readonly bytes: number; readonly messages: number } } }
    /** List submission credentials of a mailbox. */
    "/admin/api/mailboxes/{address}/submission-credentials": { readonly params: { readonly address: string }; readonly query?: { readonly limit?: string; readonly nextToken?: string }; readonly response: { readonly mailbox: string; readonly items: ReadonlyArray<{ readonly credentialId: string; readonly name: string; readonly createdBy: string; readonly createdAt: string; readonly lastUsedAt: string | null }>; readonly nextToken: string | null } }
    /** List messages. */
    "/admin/api/messages": { readonly query?: { readonly mailbox?: string; readonly folder?: string; readonly includeDeleted?: string; readonly startTime?: string; readonly from?: string; readonly since?: string; readonly after?: string; readonly endTime?: string; readonly to?: string; readonly until?: string; readonly before?: string; readonly threadId?: string; readonly seen?: string; readonly q?: string; readonly limit?: string; readonly nextToken?: string }; readonly response: { readonly items: ReadonlyArray<{ readonly id: string; readonly mailbox: string; readonly folder: string; readonly subject: string; readonly hasAttachments: boolean; readonly seen: boolean; readonly from: string; readonly to: ReadonlyArray<string>; readonly threadId: string; readonly snippet: string; readonly receivedAt: string; readonly deleted: boolean; readonly matches?: { readonly subject: ReadonlyArray<{ readonly start: number; readonly end: number }>; readonly from: ReadonlyArray<{ readonly start: number; readonly end: number }>; readonly snippet: ReadonlyArray<{ readonly start: number; readonly end: number }> } }>; readonly nextToken: string | null } }
    /** Follow the messages of a mailbox. */
    "/admin/api/messages/stream": { readonly query?: { readonly mailbox?: string }; readonly response: Response }
    /** Get a message. */
    "/admin/api/messages/{messageId}": { readonly params: { readonly messageId: string }; readonly response: { readonly id: string; readonly mailbox: string; readonly folder: string; readonly subject: string; readonly hasAttachments: boolean; readonly seen: boolean; readonly from: string; readonly to: ReadonlyArray<string>; readonly threadId: string; readonly snippet: string; readonly receivedAt: string; readonly deleted: boolean; readonly authors?: ReadonlyArray<string>; readonly cc: ReadonlyArray<string>; readonly replyTo: ReadonlyArray<string>; readonly text: string; readonly html: string | null; readonly attachments: ReadonlyArray<{ readonly attachmentId: string; readonly filename: string; readonly contentType: string; readonly size: number; readonly contentId?: string; readonly inline: boolean; readonly url: string; readonly expiresAt: string }>; readonly rawUrl: string; readonly messageId: string | null; readonly inReplyTo: string | null; readonly references: ReadonlyArray<string>; readonly authentication: { readonly spf: string; readonly dkim: string; readonly dmarc: string }; readonly size: number; readonly parsing: "pending" | "parsed" | "failed"; readonly truncated: boolean; readonly deliveries: ReadonlyArray<{ readonly recipient: string; readonly status: string; readonly attempts: number; readonly reply: string | null; readonly updatedAt: string }> } }
    /** Get the color and logo of the site’s pages. */
    "/admin/api/page-branding": { readonly response: { readonly color: string | null; readonly logo: string | null; readonly shades: { readonly light: { readonly button: string; readonly buttonText: string; readonly link: string }; readonly dark: { readonly button: string; readonly buttonText: string; readonly link: string } } | null } }
    /** Get your profile. */
    "/admin/api/profile": { readonly response: { readonly userSub: string; readonly primaryEmail: string; readonly activeEmail: string; readonly externalEmail: string | null; readonly settings: Readonly<Record<string, unknown>>; readonly pendingEmail?: string; readonly pendingPrimaryEmail?: string } }
    /** List your sessions. */
    "/admin/api/profile/sessions": { readonly query?: { readonly limit?: string; readonly nextToken?: string }; readonly response: { readonly items: ReadonlyArray<{ readonly sessionId: string; readonly method: string | null; readonly userAgent: string; readonly address: string; readonly createdAt: string; readonly lastSeenAt: string; readonly expiresAt: string; readonly current: boolean }>; readonly nextToken: string | null } }
    /** List admin users. */
    "/admin/api/users": { readonly query?: { readonly limit?: string; readonly nextToken?: string; readonly email?: string; readonly q?: string }; readonly response: { readonly items: ReadonlyArray<{ readonly userId: string; readonly email: string; readonly role: "user" | "admin" | "super-admin"; readonly externalEmail: string | null; readonly status: "INVITED" | "ACTIVE" }>; readonly nextToken: string | null } }
    /** Get an admin user. */
    "/admin/api/users/{userId}": { readonly params: { readonly userId: string }; readonly response: { readonly userId: string; readonly email: string; readonly role: "user" | "admin" | "super-admin"; readonly externalEmail: string | null; readonly status: "INVITED" | "ACTIVE" } }
    /** Get the profile of a user. */
    "/admin/api/users/{userId}/profile": { readonly params: { readonly userId: string }; readonly response: { readonly userSub: string; readonly primaryEmail: string; readonly activeEmail: string; readonly externalEmail: string | null; readonly settings: Readonly<Record<string, unknown>>; readonly pendingEmail?: string; readonly pendingPrimaryEmail?: string; readonly createdAt: string; readonly updatedAt: string } }
    /** List the sessions of an admin user. */
    "/admin/api/users/{userId}/sessions": { readonly params: { readonly userId: string }; readonly query?: { readonly limit?: string; readonly nextToken?: string }; readonly response: { readonly items: ReadonlyArray<{ readonly sessionId: string; readonly method: string | null; readonly userAgent: string; readonly address: string; readonly createdAt: string; readonly lastSeenAt: string; readonly expiresAt: string; readonly current: boolean }>; readonly nextToken: string | null } }
    /** Redirect to the page of the account after a sign-in. */
    "/admin/callback": { readonly response: Response }
    /** List environment variables. */
    "/admin/data/env-vars": { readonly query?: { readonly limit?: string; readonly nextToken?: string }; readonly response: { readonly items: ReadonlyArray<{ readonly name: string; readonly secret: boolean; readonly value?: string; readonly storageBackend: string; readonly updatedAt: string }>; readonly nextToken: string | null } }
    /** List groups. */
    "/admin/data/groups": { readonly query?: { readonly limit?: string; readonly nextToken?: string }; readonly response: { readonly items: ReadonlyArray<{ readonly groupName: string; readonly description: string }>; readonly nextToken: string | null } }
    /** List the users of a group. */
    "/admin/data/groups/{groupName}/users": { readonly params: { readonly groupName: string }; readonly query?: { readonly limit?: string; readonly nextToken?: string }; readonly response: { readonly items: ReadonlyArray<{ readonly username: string; readonly sub: string; readonly addedAt: string }>; readonly nextToken: string | null } }
    /** List stored definitions. */
    "/admin/data/iac/definitions": { readonly query?: { readonly limit?: string; readonly nextToken?: string }; readonly response: { readonly items: ReadonlyArray<{ readonly profileName: string; readonly updatedAt: string }>; readonly nextToken: string | null } }
    /** Get a stored definition. */
    "/admin/data/iac/definitions/{profileName}": { readonly params: { readonly profileName: string }; readonly response: { readonly profileName: string; readonly definition: unknown } }
    /** Export the definition of the site. */
    "/admin/data/iac/export": { readonly response: Readonly<Record<string, ReadonlyArray<unknown>>> }
    /** List jobs of definitions. */
    "/admin/data/iac/jobs": { readonly query?: { readonly limit?: string; readonly nextToken?: string }; readonly response: { readonly items: ReadonlyArray<{ readonly jobId: string; readonly status: string; readonly mode: string; readonly definitionSource: string; readonly definitionProfileName: string | null; readonly deploymentId: string | null; readonly definitionPersisted: boolean; readonly error: string | null; readonly createdAt: string; readonly startedAt: string | null; readonly finishedAt: string | null }>; readonly nextToken: string | null } }
    /** Get a job of a definition. */
    "/admin/data/iac/jobs/{jobId}": { readonly params: { readonly jobId: string }; readonly response: { readonly jobId: string; readonly status: string; readonly mode: string; readonly definitionSource: string; readonly definitionProfileName: string | null; readonly deploymentId: string | null; readonly definitionPersisted: boolean; readonly error: string | null; readonly createdAt: string; readonly startedAt: string | null; readonly finishedAt: string | null; readonly permissionsSync: { readonly status: "queued" | "running" | "succeeded" | "failed"; readonly error?: string }; readonly summary: { readonly created: number; readonly updated: number; readonly renamed: number; readonly deleted: number; readonly unchanged: number; readonly failed: number; readonly changes: ReadonlyArray<{ readonly section: string; readonly name: string; readonly action: string; readonly status: string; readonly fields?: ReadonlyArray<string>; readonly renamedFrom?: string; readonly note?: string; readonly error?: string }> } } }
    /** List jobs. */
    "/admin/data/jobs": { readonly query?: { readonly limit?: string; readonly nextToken?: string }; readonly response: { readonly items: ReadonlyArray<{ readonly jobId: string; readonly operation: string; readonly schedule: { readonly cron: string; readonly timezone?: string } | null; readonly auth: { readonly mode: string; readonly username?: string }; readonly enabled: boolean; readonly nextRunAt: string | null; readonly lastRun: { readonly runId: string; readonly status: string; readonly trigger: string; readonly scheduledFor: string | null; readonly startedAt: string | null; readonly finishedAt: string | null; readonly durationMs: number | null } | null; readonly createdAt: string; readonly updatedAt: string; readonly payload?: unknown; readonly payloadBytes: number }>; readonly nextToken: string | null } }
    /** Get a job. */
    "/admin/data/jobs/{jobId}": { readonly params: { readonly jobId: string }; readonly response: { readonly jobId: string; readonly operation: string; readonly schedule: { readonly cron: string; readonly timezone?: string } | null; readonly auth: { readonly mode: string; readonly username?: string }; readonly enabled: boolean; readonly nextRunAt: string | null; readonly lastRun: { readonly runId: string; readonly status: string; readonly trigger: string; readonly scheduledFor: string | null; readonly startedAt: string | null; readonly finishedAt: string | null; readonly durationMs: number | null } | null; readonly createdAt: string; readonly updatedAt: string; readonly payload: unknown } }
    /** List the runs of a job. */
    "/admin/data/jobs/{jobId}/runs": { readonly params: { readonly jobId: string }; readonly query?: { readonly limit?: string; readonly nextToken?: string }; readonly response: { readonly items: ReadonlyArray<{ readonly runId: string; readonly jobId: string; readonly status: string; readonly trigger: string; readonly scheduledFor: string | null; readonly missed: number; readonly operation: string | null; readonly requestId: string; readonly attempts: number; readonly resultBytes: number | null; readonly error: { readonly code: string; readonly message: string } | null; readonly createdAt: string; readonly startedAt: string | null; readonly finishedAt: string | null; readonly durationMs: number | null; readonly result?: unknown; readonly resultTruncated: boolean }>; readonly nextToken: string | null } }
    /** Get a run of a job. */
    "/admin/data/jobs/{jobId}/runs/{runId}": { readonly params: { readonly jobId: string; readonly runId: string }; readonly response: { readonly runId: string; readonly jobId: string; readonly status: string; readonly trigger: string; readonly scheduledFor: string | null; readonly missed: number; readonly operation: string | null; readonly requestId: string; readonly attempts: number; readonly resultBytes: number | null; readonly error: { readonly code: string; readonly message: string } | null; readonly createdAt: string; readonly startedAt: string | null; readonly finishedAt: string | null; readonly durationMs: number | null; readonly result: unknown; readonly resultTruncated: boolean; readonly logs: ReadonlyArray<{ readonly logId: string; readonly at: string; readonly level: string; readonly kind: string; readonly operation: string | null; readonly requestId: string | null; readonly message: string; readonly fields?: unknown }> } }
    /** List log lines, or follow the log. */
    "/admin/data/logs": { readonly query?: { readonly operation?: string; readonly level?: string; readonly requestId?: string; readonly since?: string; readonly until?: string; readonly follow?: string; readonly limit?: string; readonly nextToken?: string }; readonly response: { readonly items: ReadonlyArray<{ readonly logId: string; readonly at: string; readonly level: string; readonly kind: string; readonly operation: string | null; readonly requestId: string | null; readonly message: string; readonly fields?: unknown }>; readonly nextToken: string | null } }
    /** List resources. */
    "/admin/data/resources": { readonly query?: { readonly limit?: string; readonly nextToken?: string }; readonly response: { readonly resources: ReadonlyArray<{ readonly resourceId: string; readonly type: string; readonly name: string; readonly config: unknown; readonly createdAt: string; readonly updatedAt: string }>; readonly operations: ReadonlyArray<{ readonly operation: string; readonly resourceId: string | null; readonly lambdaResourceId?: string; readonly preset?: { readonly preset: string; readonly resourceId: string | null; readonly fixed?: Readonly<Record<string, unknown>>; readonly allowed?: ReadonlyArray<string>; readonly owner?: { readonly attribute: string } | { readonly prefix: string } }; readonly auth: { readonly mode: string; readonly groups?: ReadonlyArray<string>; readonly scopes?: ReadonlyArray<string> }; readonly cache: { readonly ttlSeconds: number }; readonly http?: true; readonly input?: unknown; readonly output?: unknown; readonly createdAt: string; readonly updatedAt: string; readonly permissionsSync: { readonly status: "queued" | "running" | "succeeded" | "failed"; readonly error?: string } }>; readonly permissionsSync: { readonly status: "queued" | "running" | "succeeded" | "failed"; readonly error?: string }; readonly nextToken: string | null } }
    /** Get a resource. */
    "/admin/data/resources/{resourceId}": { readonly params: { readonly resourceId: string }; readonly response: { readonly resourceId: string; readonly type: string; readonly name: string; readonly config: unknown; readonly createdAt: string; readonly updatedAt: string } }
    /** Get what the site uses, and its limits. */
    "/admin/data/usage": { readonly query?: { readonly from?: string; readonly to?: string; readonly operation?: string }; readonly response: { readonly from: string; readonly to: string; readonly items: ReadonlyArray<{ readonly hour: string; readonly operation: string; readonly calls: number; readonly errors: number; readonly cacheHits: number; readonly cpuMs: number; readonly wallMs: number }>; readonly totals: { readonly calls: number; readonly errors: number; readonly cacheHits: number; readonly cpuMs: number; readonly wallMs: number }; readonly limits: Readonly<Record<string, number>>; readonly buckets: { readonly usedBytes: number; readonly usedObjects: number; readonly chargedBytes: number; readonly chargedObjects: number }; readonly tables: { readonly usedBytes: number; readonly usedItems: number }; readonly mail: { readonly usedBytes: number; readonly usedMessages: number }; readonly runtime: { readonly loadedRevision: number | null; readonly sandboxReady: boolean; readonly calls: { readonly running: number; readonly suspended: number; readonly queued: number; readonly openStreams: number } }; readonly nextToken: null } }
    /** List visitors. */
    "/admin/data/users": { readonly query?: { readonly limit?: string; readonly nextToken?: string; readonly email?: string; readonly q?: string; readonly status?: "ACTIVE" | "DISABLED" | "DELETING" }; readonly response: { readonly items: ReadonlyArray<{ readonly sub: string; readonly username: string; readonly emailVerified: boolean; readonly status: "ACTIVE" | "DISABLED" | "DELETING"; readonly origin: string; readonly createdAt: string; readonly updatedAt: string; readonly deletedAt: string | null }>; readonly nextToken: string | null } }
    /** Get a visitor. */
    "/admin/data/users/{sub}": { readonly params: { readonly sub: string }; readonly response: { readonly sub: string; readonly username: string; readonly emailVerified: boolean; readonly status: "ACTIVE" | "DISABLED" | "DELETING"; readonly origin: string; readonly createdAt: string; readonly updatedAt: string; readonly deletedAt: string | null; readonly groups: ReadonlyArray<string>; readonly signInMethods: ReadonlyArray<"password" | "google">; readonly secondFactor: boolean; readonly lastSeenAt: string | null } }
    /** List the sessions of a visitor. */
    "/admin/data/users/{sub}/sessions": { readonly params: { readonly sub: string }; readonly query?: { readonly limit?: string; readonly nextToken?: string }; readonly response: { readonly items: ReadonlyArray<{ readonly sessionId: string; readonly method: string | null; readonly userAgent: string; readonly address: string; readonly createdAt: string; readonly lastSeenAt: string; readonly expiresAt: string; readonly current: boolean }>; readonly nextToken: string | null } }
    /** Get the OpenAPI document of this API. */
    "/admin/openapi.json": { readonly response: { readonly openapi: string } }
    /** Show the page that confirms or undoes a change of address. */
    "/admin/public/address/confirm": { readonly query?: { readonly token?: string }; readonly response: Response }
    /** Show the page that confirms or undoes a change of address. */
    "/admin/public/address/undo": { readonly query?: { readonly token?: string }; readonly response: Response }
    /** Get what an admin application needs before a sign-in. */
    "/admin/public/config": { readonly response: { readonly siteId: string; readonly siteDomain: string; readonly region: string; readonly api: { readonly basePath: string }; readonly auth: { readonly mode: "hosted"; readonly userPoolId: string; readonly clientId: string; readonly issuer: string; readonly domain: string; readonly scope: ReadonlyArray<string>; readonly redirectUri: string; readonly logoutUri: string } } }
    /** Show the page that agrees to a forwarding, or agree to it. */
    "/admin/public/forwarding/verify": { readonly query?: { readonly token?: string; readonly mailbox?: string; readonly target?: string }; readonly response: { readonly mailbox: string; readonly target: string; readonly status: "PENDING" | "VERIFIED" } }
    /** Get the logo of the site. */
    "/admin/public/logo/{version}": { readonly params: { readonly version: string }; readonly response: Response }
  }
  readonly post: {
    /** Add recipients of the contact form. */
    "/admin/api/contact-recipients": { readonly body: { readonly recipients: ReadonlyArray<string> }; readonly response: { readonly items: ReadonlyArray<{ readonly email: string }> } }
    /** Create a deploy token. */
    "/admin/api/deploy-tokens": { readonly body: { readonly name: string; readonly scopes?: ReadonlyArray<"deploy" | "logs" | "iac">; readonly expiresInDays?: number }; readonly response: { readonly tokenId: string; readonly name: string; readonly scopes: ReadonlyArray<"deploy" | "logs" | "iac">; readonly createdBy: string; readonly createdAt: string; readonly expiresAt: string | null; readonly lastUsedAt: string | null; readonly token: string } }
    /** Create a mailbox. */
    "/admin/api/mailboxes": { readonly body: { readonly address: string; readonly owners: ReadonlyArray<string> }; readonly response: { readonly address: string; readonly status: "ACTIVE" | "DISABLED"; readonly owners: ReadonlyArray<string> } }
    /** Add forwarding targets to a mailbox. */
    "/admin/api/mailboxes/{address}/forwarding-targets": { readonly params: { readonly address: string }; readonly body: { readonly targets: ReadonlyArray<string> }; readonly response: { readonly mailbox: string; readonly items: ReadonlyArray<{ readonly target: string; readonly status: "PENDING" | "VERIFIED"; readonly verificationSent: boolean }> } }
    /** Add owners to a mailbox. */
    "/admin/api/mailboxes/{address}/owners": { readonly params: { readonly address: string }; readonly body: { readonly owners: ReadonlyArray<string> }; readonly response: { readonly address: string; readonly status: "ACTIVE" | "DISABLED"; readonly owners: ReadonlyArray<string> } }
    /** Purge a mailbox and its messages. */
    "/admin/api/mailboxes/{address}/purge": { readonly params: { readonly address: string }; readonly body?: { readonly confirm?: boolean }; readonly response: undefined }
    /** Restore a disabled mailbox. */
    "/admin/api/mailboxes/{address}/restore": { readonly params: { readonly address: string }; readonly body?: { readonly owners?: ReadonlyArray<string> }; readonly response: { readonly address: string; readonly status: "ACTIVE" | "DISABLED"; readonly owners: ReadonlyArray<string> } }
    /** Create a submission credential. */
    "/admin/api/mailboxes/{address}/submission-credentials": { readonly params: { readonly address: string }; readonly body: { readonly name: string }; readonly response: { readonly credentialId: string; readonly name: string; readonly createdBy: string; readonly createdAt: string; readonly lastUsedAt: string | null; readonly mailbox: string; readonly server: { readonly host: string; readonly port: number; readonly security: "STARTTLS" }; readonly username: string; readonly password: string } }
    /** Stage an attachment. */
    "/admin/api/messages/attachments": { readonly body: { readonly mailbox: string; readonly filename: string; readonly contentType: string; readonly size: number }; readonly response: { readonly attachmentRef: string; readonly mailbox: string; readonly filename: string; readonly contentType: string; readonly size: number; readonly upload: { readonly method: "PUT"; readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly expiresAt: string }; readonly expiresAt: string } }
    /** Purge messages. */
    "/admin/api/messages/purge": { readonly body: { readonly messageIds: ReadonlyArray<string>; readonly force?: boolean }; readonly response: { readonly purged: ReadonlyArray<string>; readonly failed: ReadonlyArray<{ readonly messageId: string; readonly code: string; readonly message: string }> } }
    /** Purge all messages of the site. */
    "/admin/api/messages/purge-all": { readonly body?: { readonly confirm?: boolean; readonly dryRun?: boolean }; readonly response: { readonly matchedCount: number; readonly deletedCount: number; readonly failedCount: number; readonly dryRun: boolean } }
    /** Purge deleted messages. */
    "/admin/api/messages/purge-deleted": { readonly body?: { readonly confirm?: boolean; readonly dryRun?: boolean; readonly filters?: { readonly mailbox?: string; readonly includeTrash?: boolean } }; readonly response: { readonly matchedCount: number; readonly deletedCount: number; readonly failedCount: number; readonly dryRun: boolean } }
    /** Send a message. */
    "/admin/api/messages/send": { readonly body: { readonly mailbox: string; readonly to: ReadonlyArray<string>; readonly subject: string; readonly body?: string; readonly cc?: ReadonlyArray<string>; readonly bcc?: ReadonlyArray<string>; readonly html?: string; readonly replyTo?: string; readonly attachmentRefs?: ReadonlyArray<string>; readonly attachments?: ReadonlyArray<{ readonly filename: string; readonly contentType: string; readonly contentBase64: string }>; readonly raw?: string; readonly rawRef?: string }; readonly response: { readonly id: string; readonly threadId: string } }
    /** Archive a message. */
    "/admin/api/messages/{messageId}/archive": { readonly params: { readonly messageId: string }; readonly body?: unknown; readonly response: undefined }
    /** Purge a message. */
    "/admin/api/messages/{messageId}/purge": { readonly params: { readonly messageId: string }; readonly body?: unknown; readonly response: undefined }
    /** Reply to a message. */
    "/admin/api/messages/{messageId}/reply": { readonly params: { readonly messageId: string }; readonly body: { readonly body?: string; readonly subject?: string; readonly replyAll?: boolean; readonly cc?: ReadonlyArray<string>; readonly bcc?: ReadonlyArray<string>; readonly html?: string; readonly replyTo?: string; readonly attachmentRefs?: ReadonlyArray<string>; readonly attachments?: ReadonlyArray<{ readonly filename: string; readonly contentType: string; readonly contentBase64: string }> }; readonly response: { readonly id: string; readonly threadId: string } }
    /** Restore a deleted message. */
    "/admin/api/messages/{messageId}/restore": { readonly params: { readonly messageId: string }; readonly body?: { readonly messageId?: string }; readonly response: { readonly id: string; readonly deleted: boolean; readonly folder: string } }
    /** Mark a message as seen or unseen. */
    "/admin/api/messages/{messageId}/seen": { readonly params: { readonly messageId: string }; readonly body: { readonly seen: boolean }; readonly response: { readonly id: string; readonly seen: boolean } }
    /** Change your password. */
    "/admin/api/profile/password": { readonly body: { readonly currentPassword: string; readonly newPassword: string }; readonly response: undefined }
    /** Send the invites of super-admins again. */
    "/admin/api/super-admin-invites/resend": { readonly body?: { readonly superAdminEmails?: ReadonlyArray<string> }; readonly response: { readonly matchedCount: number; readonly resentCount: number; readonly status: "sent" } }
    /** Invite an admin user. */
    "/admin/api/users": { readonly body: { readonly email: string; readonly role?: "user" | "admin" | "super-admin"; readonly externalEmail?: string | null }; readonly response: { readonly userId: string; readonly email: string; readonly role: "user" | "admin" | "super-admin"; readonly externalEmail: string | null; readonly status: "INVITED" | "ACTIVE"; readonly inviteSent: boolean; readonly inviteRecipient: string } }
    /** Send an invite again. */
    "/admin/api/users/{userId}/invite/resend": { readonly params: { readonly userId: string }; readonly response: { readonly userId: string; readonly email: string; readonly role: "user" | "admin" | "super-admin"; readonly externalEmail: string | null; readonly status: "INVITED" | "ACTIVE"; readonly inviteSent: boolean; readonly inviteRecipient: string } }
    /** Run code once. */
    "/admin/data/compute/execute": { readonly body: { readonly code: string; readonly payload?: unknown; readonly timeoutSeconds?: number }; readonly response: { readonly ok: true; readonly data: unknown; readonly logs: ReadonlyArray<{ readonly at: string; readonly level: string; readonly message: string }>; readonly durationMs: number } }
    /** Create a group. */
    "/admin/data/groups": { readonly body: { readonly groupName: string; readonly description?: string }; readonly response: { readonly groupName: string; readonly description: string } }
    /** Add a user to a group. */
    "/admin/data/groups/{groupName}/users": { readonly params: { readonly groupName: string }; readonly body: { readonly username: string }; readonly response: { readonly groupName: string; readonly username: string; readonly ok: true } }
    /** Plan or apply a definition. */
    "/admin/data/iac/jobs": { readonly body: { readonly mode: "plan" | "apply" | "replace"; readonly definition?: unknown; readonly definitionProfileName?: string; readonly persistDefinition?: boolean; readonly confirm?: boolean | ReadonlyArray<{ readonly section: string; readonly name: string; readonly items?: number; readonly objects?: number; readonly bytes?: number; readonly atLeast?: true }> }; readonly response: { readonly jobId: string; readonly status: "queued"; readonly definitionSource: string; readonly definitionPersisted: boolean; readonly permissionsSync: { readonly status: "queued" | "running" | "succeeded" | "failed"; readonly error?: string } } }
    /** Cancel a job of a definition. */
    "/admin/data/iac/jobs/{jobId}/cancel": { readonly params: { readonly jobId: string }; readonly response: { readonly jobId: string; readonly status: string; readonly mode: string; readonly definitionSource: string; readonly definitionProfileName: string | null; readonly deploymentId: string | null; readonly definitionPersisted: boolean; readonly error: string | null; readonly createdAt: string; readonly startedAt: string | null; readonly finishedAt: string | null; readonly permissionsSync: { readonly status: "queued" | "running" | "succeeded" | "failed"; readonly error?: string }; readonly summary: { readonly created: number; readonly updated: number; readonly renamed: number; readonly deleted: number; readonly unchanged: number; readonly failed: number; readonly changes: ReadonlyArray<{ readonly section: string; readonly name: string; readonly action: string; readonly status: string; readonly fields?: ReadonlyArray<string>; readonly renamedFrom?: string; readonly note?: string; readonly error?: string }> } } }
    /** Run a job now. */
    "/admin/data/jobs/{jobId}": { readonly params: { readonly jobId: string }; readonly body?: { readonly trigger?: string }; readonly response: { readonly ok: true; readonly data: { readonly jobId: string; readonly runId: string; readonly status: "started" } } }
    /** Create or replace an operation. */
    "/admin/data/operations": { readonly body: { readonly operation: string; readonly lambdaResourceId?: string; readonly preset?: { readonly preset: string; readonly resourceId?: string; readonly fixed?: Readonly<Record<string, unknown>>; readonly allowed?: ReadonlyArray<string>; readonly owner?: true | { readonly attribute: string } | { readonly prefix: string } }; readonly auth?: { readonly mode: "public" | "authenticated" | "groups"; readonly groups?: ReadonlyArray<string>; readonly scopes?: ReadonlyArray<string> }; readonly cache?: { readonly ttlSeconds: number }; readonly http?: boolean; readonly input?: unknown; readonly output?: unknown }; readonly response: { readonly operation: string; readonly resourceId: string | null; readonly lambdaResourceId?: string; readonly preset?: { readonly preset: string; readonly resourceId: string | null; readonly fixed?: Readonly<Record<string, unknown>>; readonly allowed?: ReadonlyArray<string>; readonly owner?: { readonly attribute: string } | { readonly prefix: string } }; readonly auth: { readonly mode: string; readonly groups?: ReadonlyArray<string>; readonly scopes?: ReadonlyArray<string> }; readonly cache: { readonly ttlSeconds: number }; readonly http?: true; readonly input?: unknown; readonly output?: unknown; readonly createdAt: string; readonly updatedAt: string; readonly permissionsSync: { readonly status: "queued" | "running" | "succeeded" | "failed"; readonly error?: string } } }
    /** Drop the cached responses of an operation. */
    "/admin/data/operations/{operation}": { readonly params: { readonly operation: string }; readonly response: { readonly ok: true; readonly invalidatedCount: number } }
    /** Profile a call of an operation. */
    "/admin/data/operations/{operation}/profile": { readonly params: { readonly operation: string }; readonly body: { readonly payload?: unknown; readonly calls?: number; readonly seconds?: number }; readonly response: { readonly nodes: ReadonlyArray<{ readonly id: number; readonly callFrame: { readonly functionName: string; readonly scriptId: string; readonly url: string; readonly lineNumber: number; readonly columnNumber: number }; readonly hitCount: number; readonly children: ReadonlyArray<number> }>; readonly startTime: number; readonly endTime: number; readonly samples: ReadonlyArray<number>; readonly timeDeltas: ReadonlyArray<number> } }
    /** Publish the runtime of the site again. */
    "/admin/data/reconcile": { readonly response: { readonly status: "queued"; readonly permissionsSync: { readonly status: "queued" | "running" | "succeeded" | "failed"; readonly error?: string } } }
    /** Create a resource. */
    "/admin/data/resources": { readonly body: { readonly type: "ddbTable" | "s3Bucket" | "lambdaFunction"; readonly name: string; readonly config?: unknown }; readonly response: { readonly resourceId: string; readonly type: string; readonly name: string; readonly permissionsSync: { readonly status: "queued" | "running" | "succeeded" | "failed"; readonly error?: string } } }
    /** Get several items. */
    "/admin/data/resources/{resourceId}/data/ddb/batch-get": { readonly params: { readonly resourceId: string }; readonly body?: unknown; readonly response: { readonly items: ReadonlyArray<Readonly<Record<string, unknown>>>; readonly unprocessedKeys: ReadonlyArray<Readonly<Record<string, unknown>>> } }
    /** Put and delete several items. */
    "/admin/data/resources/{resourceId}/data/ddb/batch-write": { readonly params: { readonly resourceId: string }; readonly body?: unknown; readonly response: { readonly ok: true; readonly unprocessedItems: ReadonlyArray<Readonly<Record<string, unknown>>> } }
    /** Delete an item. */
    "/admin/data/resources/{resourceId}/data/ddb/delete": { readonly params: { readonly resourceId: string }; readonly body?: unknown; readonly response: { readonly ok: true; readonly attributes?: Readonly<Record<string, unknown>> } }
    /** Get an item. */
    "/admin/data/resources/{resourceId}/data/ddb/get": { readonly params: { readonly resourceId: string }; readonly body?: unknown; readonly response: { readonly item: Readonly<Record<string, unknown>> | null } }
    /** Put an item. */
    "/admin/data/resources/{resourceId}/data/ddb/put": { readonly params: { readonly resourceId: string }; readonly body?: unknown; readonly response: { readonly ok: true; readonly attributes?: Readonly<Record<string, unknown>> } }
    /** Query items. */
    "/admin/data/resources/{resourceId}/data/ddb/query": { readonly params: { readonly resourceId: string }; readonly body?: unknown; readonly response: { readonly items: ReadonlyArray<Readonly<Record<string, unknown>>>; readonly count: number; readonly scannedCount: number; readonly lastEvaluatedKey?: Readonly<Record<string, unknown>>; readonly nextToken: string | null } }
    /** Scan items. */
    "/admin/data/resources/{resourceId}/data/ddb/scan": { readonly params: { readonly resourceId: string }; readonly body?: unknown; readonly response: { readonly items: ReadonlyArray<Readonly<Record<string, unknown>>>; readonly count: number; readonly scannedCount: number; readonly lastEvaluatedKey?: Readonly<Record<string, unknown>>; readonly nextToken: string | null } }
    /** Write several items in one transaction. */
    "/admin/data/resources/{resourceId}/data/ddb/transact-write": { readonly params: { readonly resourceId: string }; readonly body?: unknown; readonly response: { readonly ok: true } }
    /** Update an item. */
    "/admin/data/resources/{resourceId}/data/ddb/update": { readonly params: { readonly resourceId: string }; readonly body?: unknown; readonly response: { readonly ok: true; readonly attributes?: Readonly<Record<string, unknown>> } }
    /** Delete an object. */
    "/admin/data/resources/{resourceId}/data/s3/delete-object": { readonly params: { readonly resourceId: string }; readonly body?: unknown; readonly response: { readonly ok: true; readonly key: string } }
    /** Get an object. */
    "/admin/data/resources/{resourceId}/data/s3/get-object": { readonly params: { readonly resourceId: string }; readonly body?: unknown; readonly response: { readonly key: string; readonly body: string; readonly encoding: "utf8" | "base64"; readonly contentType: string; readonly size: number; readonly etag: string; readonly lastModified: string; readonly metadata: Readonly<Record<string, string>>; readonly contentRange?: string } }
    /** List objects. */
    "/admin/data/resources/{resourceId}/data/s3/list-objects": { readonly params: { readonly resourceId: string }; readonly body?: unknown; readonly response: { readonly items: ReadonlyArray<{ readonly key: string; readonly size: number; readonly lastModified: string; readonly etag: string }>; readonly commonPrefixes: ReadonlyArray<string>; readonly isTruncated: boolean; readonly nextToken: string | null } }
    /** Sign a URL that gets an object. */
    "/admin/data/resources/{resourceId}/data/s3/presign-get-object": { readonly params: { readonly resourceId: string }; readonly body?: unknown; readonly response: { readonly method: "GET" | "PUT"; readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly expiresAt: string } }
    /** Sign a URL that puts an object. */
    "/admin/data/resources/{resourceId}/data/s3/presign-put-object": { readonly params: { readonly resourceId: string }; readonly body?: unknown; readonly response: { readonly method: "GET" | "PUT"; readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly expiresAt: string } }
    /** Put an object. */
    "/admin/data/resources/{resourceId}/data/s3/put-object": { readonly params: { readonly resourceId: string }; readonly body?: unknown; readonly response: { readonly ok: true; readonly key: string; readonly etag: string; readonly size: number } }
    /** Disable a visitor. */
    "/admin/data/users/{sub}/disable": { readonly params: { readonly sub: string }; readonly response: { readonly sub: string; readonly username: string; readonly emailVerified: boolean; readonly status: "ACTIVE" | "DISABLED" | "DELETING"; readonly origin: string; readonly createdAt: string; readonly updatedAt: string; readonly deletedAt: string | null } }
    /** Enable a visitor. */
    "/admin/data/users/{sub}/enable": { readonly params: { readonly sub: string }; readonly response: { readonly sub: string; readonly username: string; readonly emailVerified: boolean; readonly status: "ACTIVE" | "DISABLED" | "DELETING"; readonly origin: string; readonly createdAt: string; readonly updatedAt: string; readonly deletedAt: string | null } }
    /** Sign a visitor out everywhere. */
    "/admin/data/users/{sub}/sign-out": { readonly params: { readonly sub: string }; readonly response: undefined }
    /** Confirm or undo a change of address. */
    "/admin/public/address/confirm": { readonly response: Response }
    /** Confirm or undo a change of address. */
    "/admin/public/address/undo": { readonly response: Response }
    /** Send a message to the people of the site. */
    "/admin/public/contact": { readonly body: { readonly name?: string; readonly email: string; readonly phone?: string; readonly subject?: string; readonly message: string; readonly metadata?: Readonly<Record<string, string>>; readonly website?: string }; readonly response: { readonly messageId: string } }
    /** Report a push to the repository of the site. */
    "/admin/public/webhooks/deploy": { readonly response: { readonly status: "queued" | "ignored" | "repeated"; readonly reason?: string } }
  }
  readonly put: {
    /** Create or replace an alias. */
    "/admin/api/aliases/{address}": { readonly params: { readonly address: string }; readonly body: { readonly targets: ReadonlyArray<string> }; readonly response: { readonly address: string; readonly targets: ReadonlyArray<string> } }
    /** Change the texts of the emails with codes. */
    "/admin/api/auth-email-branding": { readonly body: { readonly adminVerificationEmail?: { readonly subject: string; readonly htmlBody: string } | null; readonly dataVerificationEmail?: { readonly subject: string; readonly htmlBody: string } | null }; readonly response: { readonly siteId: string; readonly authEmailBranding: { readonly adminVerificationEmail: { readonly subject: string; readonly htmlBody: string } | null; readonly dataVerificationEmail: { readonly subject: string; readonly htmlBody: string } | null }; readonly messageTypes: ReadonlyArray<string> } }
    /** Change how a mailbox forwards. */
    "/admin/api/mailboxes/{address}/forwarding": { readonly params: { readonly address: string }; readonly body: { readonly enabled?: boolean; readonly keepCopy?: boolean }; readonly response: { readonly mailbox: string; readonly enabled: boolean; readonly keepCopy: boolean; readonly targets: ReadonlyArray<{ readonly target: string; readonly status: "PENDING" | "VERIFIED" }> } }
    /** Change the settings of a mailbox. */
    "/admin/api/mailboxes/{address}/settings": { readonly params: { readonly address: string }; readonly body: { readonly trashAutoPurge?: boolean; readonly trashRetentionDays?: number; readonly quotaBytes?: number | null; readonly quotaMessages?: number | null }; readonly response: { readonly mailbox: string; readonly trashAutoPurge: boolean; readonly trashRetentionDays: number; readonly quotaBytes: number | null; readonly quotaMessages: number | null; readonly usage: { readonly bytes: number; readonly messages: number } } }
    /** Change the color and logo of the site’s pages. */
    "/admin/api/page-branding": { readonly body: { readonly color?: string | null; readonly logo?: string | null }; readonly response: { readonly color: string | null; readonly logo: string | null; readonly shades: { readonly light: { readonly button: string; readonly buttonText: string; readonly link: string }; readonly dark: { readonly button: string; readonly buttonText: string; readonly link: string } } | null } }
    /** Change your profile. */
    "/admin/api/profile": { readonly body: { readonly primaryEmail?: string; readonly externalEmail?: string | null; readonly settings?: Readonly<Record<string, unknown>>; readonly activeEmail?: string }; readonly response: { readonly userSub: string; readonly primaryEmail: string; readonly activeEmail: string; readonly externalEmail: string | null; readonly settings: Readonly<Record<string, unknown>>; readonly pendingEmail?: string; readonly pendingPrimaryEmail?: string; readonly updatedAt: string } }
    /** Change the profile of a user. */
    "/admin/api/users/{userId}/profile": { readonly params: { readonly userId: string }; readonly body: { readonly primaryEmail?: string; readonly externalEmail?: string | null; readonly settings?: Readonly<Record<string, unknown>> }; readonly response: { readonly userSub: string; readonly primaryEmail: string; readonly activeEmail: string; readonly externalEmail: string | null; readonly settings: Readonly<Record<string, unknown>>; readonly pendingEmail?: string; readonly pendingPrimaryEmail?: string; readonly updatedAt: string } }
    /** Set environment variables. */
    "/admin/data/env-vars": { readonly body: unknown; readonly response: { readonly items: ReadonlyArray<{ readonly name: string; readonly secret: boolean }>; readonly permissionsSync: { readonly status: "queued" | "running" | "succeeded" | "failed"; readonly error?: string } } }
    /** Create or replace a stored definition. */
    "/admin/data/iac/definitions/{profileName}": { readonly params: { readonly profileName: string }; readonly body: { readonly definition: unknown; readonly overwriteDefinition?: boolean }; readonly response: { readonly profileName: string; readonly definition: unknown } }
    /** Create or replace a job. */
    "/admin/data/jobs/{jobId}": { readonly params: { readonly jobId: string }; readonly body: { readonly operation: string; readonly payload?: unknown; readonly schedule?: { readonly cron: string; readonly timezone?: string } | null; readonly auth?: { readonly mode: "system" | "user"; readonly username?: string }; readonly enabled?: boolean }; readonly response: { readonly jobId: string; readonly operation: string; readonly schedule: { readonly cron: string; readonly timezone?: string } | null; readonly auth: { readonly mode: string; readonly username?: string }; readonly enabled: boolean; readonly nextRunAt: string | null; readonly lastRun: { readonly runId: string; readonly status: string; readonly trigger: string; readonly scheduledFor: string | null; readonly startedAt: string | null; readonly finishedAt: string | null; readonly durationMs: number | null } | null; readonly createdAt: string; readonly updatedAt: string; readonly payload: unknown } }
  }
  readonly patch: {
    /** Replace the owners of a mailbox. */
    "/admin/api/mailboxes/{address}": { readonly params: { readonly address: string }; readonly body: { readonly owners: ReadonlyArray<string> }; readonly response: { readonly address: string; readonly status: "ACTIVE" | "DISABLED"; readonly owners: ReadonlyArray<string> } }
    /** Change an admin user. */
    "/admin/api/users/{userId}": { readonly params: { readonly userId: string }; readonly body: { readonly role: "user" | "admin" | "super-admin" }; readonly response: { readonly userId: string; readonly email: string; readonly role: "user" | "admin" | "super-admin"; readonly externalEmail: string | null; readonly status: "INVITED" | "ACTIVE" } }
    /** Change a resource. */
    "/admin/data/resources/{resourceId}": { readonly params: { readonly resourceId: string }; readonly body: { readonly name?: string; readonly config?: unknown }; readonly response: { readonly resourceId: string; readonly type: string; readonly name: string; readonly permissionsSync: { readonly status: "queued" | "running" | "succeeded" | "failed"; readonly error?: string } } }
  }
  readonly delete: {
    /** Delete an alias. */
    "/admin/api/aliases/{address}": { readonly params: { readonly address: string }; readonly response: undefined }
    /** Remove recipients of the contact form. */
    "/admin/api/contact-recipients": { readonly query?: { readonly recipients?: string }; readonly body?: { readonly recipients?: ReadonlyArray<string> }; readonly response: undefined }
    /** Delete a deploy token. */
    "/admin/api/deploy-tokens/{tokenId}": { readonly params: { readonly tokenId: string }; readonly response: undefined }
    /** Send to a suppressed address again. */
    "/admin/api/mail-suppressions/{address}": { readonly params: { readonly address: string }; readonly response: undefined }
    /** Disable a mailbox. */
    "/admin/api/mailboxes/{address}": { readonly params: { readonly address: string }; readonly response: undefined }
    /** Remove forwarding targets from a mailbox. */
    "/admin/api/mailboxes/{address}/forwarding-targets": { readonly params: { readonly address: string }; readonly query?: { readonly targets?: string }; readonly body?: { readonly targets?: ReadonlyArray<string> }; readonly response: undefined }
    /** Remove owners from a mailbox. */
    "/admin/api/mailboxes/{address}/owners": { readonly params: { readonly address: string }; readonly query?: { readonly owners?: string }; readonly body?: { readonly owners?: ReadonlyArray<string> }; readonly response: { readonly address: string; readonly status: "ACTIVE" | "DISABLED"; readonly owners: ReadonlyArray<string> } }
    /** Delete a submission credential. */
    "/admin/api/mailboxes/{address}/submission-credentials/{credentialId}": { readonly params: { readonly address: string; readonly credentialId: string }; readonly response: undefined }
    /** Delete a message. */
    "/admin/api/messages/{messageId}": { readonly params: { readonly messageId: string }; readonly response: undefined }
    /** End your other sessions. */
    "/admin/api/profile/sessions": { readonly response: undefined }
    /** End one of your sessions. */
    "/admin/api/profile/sessions/{sessionId}": { readonly params: { readonly sessionId: string }; readonly response: undefined }
    /** Delete an admin user. */
    "/admin/api/users/{userId}": { readonly params: { readonly userId: string }; readonly response: undefined }
    /** Remove the second factor of an admin user. */
    "/admin/api/users/{userId}/second-factor": { readonly params: { readonly userId: string }; readonly response: undefined }
    /** End the sessions of an admin user. */
    "/admin/api/users/{userId}/sessions": { readonly params: { readonly userId: string }; readonly response: undefined }
    /** End a session of an admin user. */
    "/admin/api/users/{userId}/sessions/{sessionId}": { readonly params: { readonly userId: string; readonly sessionId: string }; readonly response: undefined }
    /** Delete environment variables. */
    "/admin/data/env-vars": { readonly response: { readonly ok: true } }
    /** Delete a group. */
    "/admin/data/groups/{groupName}": { readonly params: { readonly groupName: string }; readonly response: { readonly ok: true } }
    /** Remove a user from a group. */
    "/admin/data/groups/{groupName}/users": { readonly params: { readonly groupName: string }; readonly query?: { readonly username?: string }; readonly body?: { readonly username?: string }; readonly response: { readonly groupName: string; readonly username: string; readonly ok: true } }
    /** Delete a stored definition. */
    "/admin/data/iac/definitions/{profileName}": { readonly params: { readonly profileName: string }; readonly response: { readonly ok: true } }
    /** Delete a job. */
    "/admin/data/jobs/{jobId}": { readonly params: { readonly jobId: string }; readonly response: { readonly ok: true } }
    /** Delete an operation. */
    "/admin/data/operations/{operation}": { readonly params: { readonly operation: string }; readonly response: { readonly ok: true } }
    /** Delete a resource and its content. */
    "/admin/data/resources/{resourceId}": { readonly params: { readonly resourceId: string }; readonly query?: { readonly confirm?: boolean }; readonly body: { readonly confirm?: boolean }; readonly response: { readonly ok: true } }
    /** Delete a visitor. */
    "/admin/data/users/{sub}": { readonly params: { readonly sub: string }; readonly response: undefined }
    /** Remove the second factor of a visitor. */
    "/admin/data/users/{sub}/second-factor": { readonly params: { readonly sub: string }; readonly response: undefined }
    /** End a session of a visitor. */
    "/admin/data/users/{sub}/sessions/{sessionId}": { readonly params: { readonly sub: string; readonly sessionId: string }; readonly response: undefined }
  }
}
