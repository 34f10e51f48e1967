import { Type } from '@sinclair/typebox'

/** What sign-in takes for an address: one `@`, nothing blank, RFC 5321's length. Whether it receives mail is proven by a code. */
export const EmailAddress = Type.String({
  minLength: 3,
  maxLength: 254,
  pattern: '^[^\\s@\\u0000-\\u001f\\u007f]+@[^\\s@\\u0000-\\u001f\\u007f]+$',
})

/** The one spelling under which an address is stored and looked up. */
export const canonicalEmail = (email: string): string => email.trim().toLowerCase()
