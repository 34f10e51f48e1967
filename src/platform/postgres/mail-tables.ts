import type { Generated } from 'kysely'

/** What mailboxes and their messages hold. Each table has `site_id`, too; a `bigint` comes as text. */
export interface MailTables {
  mail_address: {
    local_part: string
    kind: 'mailbox' | 'alias'
  }
  mailbox: {
    mailbox_id: string
    local_part: string
    kind: Generated<'mailbox'>
    status: Generated<'ACTIVE' | 'DISABLED'>
    trash_auto_purge: Generated<boolean>
    trash_retention_days: Generated<number>
    used_bytes: Generated<string>
    used_messages: Generated<string>
    quota_bytes: string | null
    quota_messages: string | null
    created_at: Generated<Date>
    updated_at: Generated<Date>
    disabled_at: Date | null
  }
  mailbox_owner: {
    mailbox_id: string
    user_pool_id: string
    sub: string
    created_at: Generated<Date>
  }
  mail_alias: {
    local_part: string
    kind: Generated<'alias'>
    created_at: Generated<Date>
    updated_at: Generated<Date>
  }
  mail_alias_target: {
    local_part: string
    mailbox_id: string
  }
  mail_forwarding: {
    mailbox_id: string
    enabled: boolean
    keep_copy: boolean
    updated_at: Date
  }
  mail_forwarding_target: {
    mailbox_id: string
    target: string
    created_at: Date
    verified_at: Date | null
    token_hash: Buffer | null
    token_expires_at: Date | null
    verification_sent_at: Date | null
  }
  mail_submission_credential: {
    credential_id: string
    mailbox_id: string
    name: string
    created_by: string
    secret_hash: Buffer
    created_at: Date
    last_used_at: Date | null
  }
  contact_recipient: {
    email: string
    created_at: Date
    updated_at: Date
  }
  mail_usage: {
    used_bytes: Generated<string>
    used_messages: Generated<string>
    parsing_since: Date | null
  }
  mail_raw: {
    raw_id: string
    size_bytes: string
    sha256: Buffer
    envelope_from: string
    client: unknown
    trace_header: string
    authentication: unknown
    parse_status: Generated<'pending' | 'parsed' | 'failed'>
    parse_attempts: Generated<number>
    bounce: unknown
    received_at: Date
    parse_version: Generated<number>
    reparsed_at: Generated<Date | null>
    reparse_failed: Generated<boolean>
  }
  mail_content: {
    raw_id: string
    text: string
    html: string | null
    truncated: Generated<boolean>
    attachments: unknown
  }
  mail_message: {
    message_id: string
    mailbox_id: string
    raw_id: string
    size_bytes: string
    recipient: string
    folder: Generated<'INBOX' | 'SENT' | 'ARCHIVE' | 'TRASH'>
    origin_folder: 'INBOX' | 'SENT' | 'ARCHIVE' | null
    deleted: Generated<boolean>
    trashed_at: Date | null
    seen: Generated<boolean>
    received_at: Date
    thread_id: string
    subject: Generated<string>
    from_address: Generated<string>
    recipients: unknown
    header_id: string | null
    in_reply_to: string | null
    reference_ids: Generated<string[]>
    snippet: Generated<string>
    has_attachments: Generated<boolean>
  }
  mail_search: {
    message_id: string
    mailbox_id: string
    received_at: Date
    words: string
  }
  mail_thread_reference: {
    mailbox_id: string
    reference_hash: Buffer
    thread_id: string
  }
  mail_delivery: {
    mailbox_id: string
    delivery_hash: Buffer
    message_id: string
    expires_at: Date
  }
  mail_removed_object: {
    raw_id: string
    removed_at: Generated<Date>
  }
  mail_recipient: {
    message_id: string
    recipient: string
    mailbox_id: string
    raw_id: string
    envelope_from: string
    header_id: string
    kind: Generated<'sent' | 'forwarded' | 'returned'>
    lets_go: Generated<boolean>
    noticed: Generated<'delayed' | 'failed' | null>
    status: Generated<'queued' | 'sent' | 'captured' | 'failed' | 'bounced' | 'suppressed'>
    attempts: Generated<number>
    reply: string | null
    updated_at: Date
  }
  mail_staged_attachment: {
    attachment_ref: string
    mailbox_id: string
    filename: string
    content_type: string
    size_bytes: string
    expires_at: Date
  }
  mail_suppression: {
    address: string
    reason: 'BOUNCE'
    detail: string
    created_at: Date
  }
  dkim_key: {
    number: number
    public_key: string
    sealed_private: Buffer | null
    created_at: Date
    activated_at: Date | null
    superseded_at: Date | null
  }
}
