/** As a Date field has it, in UTC. */
export const rfc5322Date = (date: Date): string => date.toUTCString().replace(/GMT$/, '+0000')
