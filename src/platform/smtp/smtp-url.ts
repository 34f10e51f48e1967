import { BlockList, isIP } from 'node:net'

import type { SMTPPoolOptions } from 'nodemailer/lib/smtp-pool'

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

type Connection = Pick<
  SMTPPoolOptions,
  'host' | 'port' | 'secure' | 'requireTLS' | 'ignoreTLS' | 'auth'
>

/**
 * How `SMTP_URL` connects. `smtps:` is TLS from the first byte; `smtp:` upgrades when the gateway offers it, and insists on it
 * when there is a password to protect or the URL says `?starttls=required`. On loopback nothing is upgraded: the certificates
 * that local gateways offer there name no host.
 */
export function smtpConnection(smtpUrl: string): Connection {
  const url = new URL(smtpUrl)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const secure = url.protocol === 'smtps:'
  const user = decodeURIComponent(url.username)
  const asked = url.searchParams.get('starttls')
  const local = isLoopback(host)
  const required = asked === null ? user !== '' && !local : asked === 'required'
  return {
    host,
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    requireTLS: !secure && required,
    ignoreTLS: local && !required,
    ...(user === '' ? {} : { auth: { user, pass: decodeURIComponent(url.password) } }),
  }
}

function isLoopback(host: string): boolean {
  const family = isIP(host)
  if (family === 0) return host === 'localhost' || host.endsWith('.localhost')
  return LOOPBACK.check(host, family === 4 ? 'ipv4' : 'ipv6')
}
