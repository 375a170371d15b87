/**
 * An answer with more addresses of load balancers, each a member of its own, IPv6 last. Each load balancer's ARN stands before its subnets. Pure.
 * @param membersOf what is told of an address, in XML
 */
export function withZoneAddresses(body: string, membersOf: (arn: string, subnet: string) => readonly string[]): string {
  let of = '';
  return body.replaceAll(ZONE, (told: string, name: string, value: string, has: string | undefined) => {
    if (name === 'LoadBalancerArn') of = value;
    const more = name === 'SubnetId' ? membersOf(of, value) : [];
    if (more.length === 0) return told;
    const members = [...(has?.match(/<member>.*?<\/member>/gs) ?? []), ...more.map((one) => `<member>${one}</member>`)];
    const sorted = members.sort((a, b) => Number(a.includes('IPv6')) - Number(b.includes('IPv6')));
    return `<SubnetId>${value}</SubnetId><LoadBalancerAddresses>${sorted.join('')}</LoadBalancerAddresses>`;
  });
}

const ZONE = /<(LoadBalancerArn|SubnetId)>([^<]+)<\/\1>(?:<LoadBalancerAddresses>(.*?)<\/LoadBalancerAddresses>)?/gs;
