import type { Command } from 'commander';
import { withExamples } from './cluster-flags';
import type { Subcommand } from './command';
import type { AcrFlags } from './credential-provider-command';

/** `cloud-operator credential-provider`: a plugin of the kubelet, for images in registries of the cloud. */
export const credentialProvider: Subcommand = (program: Command): void => {
  const group = program
    .command('credential-provider')
    .summary('credentials for images, as a plugin of the kubelet: acr, ecr')
    .description(
      'Speaks the kubelet’s protocol for image credential providers (credentialprovider.kubelet.k8s.io/v1): a CredentialProviderRequest on standard input, ' +
        'a CredentialProviderResponse on standard output, and what went wrong on standard error.',
    );
  withExamples(
    group.command('ecr').description('of Amazon ECR, by the role of the machine, or of the Pod’s ServiceAccount'),
    `echo '{"kind":"CredentialProviderRequest","apiVersion":"credentialprovider.kubelet.k8s.io/v1","image":"123456789012.dkr.ecr.eu-central-1.amazonaws.com/web:1"}' | cloud-operator credential-provider ecr`,
  ).action(async () => {
    const { answerForEcr } = await import('./credential-provider-command.js');
    await answerForEcr();
  });
  withExamples(
    group
      .command('acr')
      .description('of Azure Container Registry, by the identity of the machine, of an azure.json, or of the Pod’s ServiceAccount')
      .option(
        '--config <file>',
        'an azure.json of the node, such as /etc/kubernetes/azure.json; without it the machine’s own identity is used',
      )
      .option('--registry-mirror <list>', 'registries whose images are pulled from another one: mcr.microsoft.com:name.azurecr.io,…'),
    `echo '{"kind":"CredentialProviderRequest","apiVersion":"credentialprovider.kubelet.k8s.io/v1","image":"name.azurecr.io/web:1"}' | cloud-operator credential-provider acr --config /etc/kubernetes/azure.json`,
  ).action(async (flags: AcrFlags) => {
    const { answerForAcr } = await import('./credential-provider-command.js');
    await answerForAcr(flags);
  });
};
