import { invocation } from './invocation';

/** How a command of `dev` says which development cluster is meant; nothing for the default one. */
export function nameOption(name: string): string {
  return name === 'default' ? '' : ` --name ${name}`;
}

/** For remedies: what a person types to start it. */
export function startIt(name: string): string {
  return `start it: ${invocation()} dev up${nameOption(name)}`;
}
