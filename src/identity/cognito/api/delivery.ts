/** Where a code is sent, derived from what was typed, so that it tells nothing about an account. */
export function deliveryTo(email: string) {
  const [name = '', domain = ''] = email.trim().split('@')
  return {
    CodeDeliveryDetails: {
      AttributeName: 'email',
      DeliveryMedium: 'EMAIL',
      Destination: `${firstOf(name)}***@${firstOf(domain)}***`,
    },
  }
}

const firstOf = (text: string): string => text.match(/^./u)?.[0] ?? ''
