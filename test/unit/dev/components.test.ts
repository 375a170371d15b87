import { controllerManagerArguments } from '../../../dev/cluster/components';

const controllers = (options: Parameters<typeof controllerManagerArguments>[0]) =>
  controllerManagerArguments(options).find((argument) => argument.startsWith('--controllers='));

it('runs the controllers of Pods, and gives them a CA, only where kubelets run Pods', () => {
  const without = { kubeconfig: 'k', nodeLifecycle: false };
  expect(controllers(without)).not.toContain('deployment-controller');
  expect(controllers({ ...without, podCA: '/ca' })).toContain('deployment-controller');
  expect(controllerManagerArguments(without).join()).not.toContain('--root-ca-file');
  expect(controllerManagerArguments({ ...without, podCA: '/ca' })).toContain('--root-ca-file=/ca');
});
