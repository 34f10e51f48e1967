/** Where a code goes, as far as a stranger may know: it is made of what was typed, and says nothing about an account. */
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
