/** Passwords that are known to attackers. An installation may put a bigger list, or a service, in the place of ours. */
export interface BreachedPasswords {
  has(password: string): boolean | Promise<boolean>
}
