import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { KubeClient } from '../../operator/kube/client';
import { SERVICES, type KubeObject } from '../../operator/kube/object';

const HEADER_BYTES = 12;
const PORT = 53;
const TYPE_A = 1;
const CLASS_IN = 1;
const TTL_SECONDS = 5;
/** An authoritative answer, recursion asked for and available. */
const FLAGS = 0x8580;
const NO_SUCH_NAME = 3;
/** The answer's name is the question's. */
const POINTER_TO_QUESTION = 0xc00c;

interface Question {
  name: string;
  type: number;
  /** Where it ends in the message. */
  end: number;
}

/** The names of Services, `<name>.<namespace>.svc.cluster.local`, as a cluster's DNS answers them: IPv4 over UDP, which is all that the tests ask. */
export class ClusterDNS {
  private constructor(private readonly socket: Socket) {}

  static async start(kube: Pick<KubeClient, 'get'>, address: string, port: number = PORT): Promise<ClusterDNS> {
    const socket = createSocket('udp4');
    socket.on('message', (message, client) => {
      void answer(message, kube).then(
        (reply) => socket.send(reply, client.port, client.address),
        (thrown: Error) => process.stderr.write(`DNS: ${thrown.message}\n`), // the client asks again
      );
    });
    socket.bind(port, address);
    await once(socket, 'listening');
    return new ClusterDNS(socket);
  }

  /** That it listens on. */
  get port(): number {
    return this.socket.address().port;
  }

  stop(): void {
    this.socket.close();
  }
}

async function answer(message: Buffer, kube: Pick<KubeClient, 'get'>): Promise<Buffer> {
  const question = questionOf(message);
  const [service = '', namespace = '', ...zone] = question.name.toLowerCase().split('.');
  const inZone = zone.join('.') === 'svc.cluster.local';
  const found = inZone ? await kube.get<KubeObject & { spec: { clusterIP?: string } }>(SERVICES, `${namespace}/${service}`) : undefined;
  return replyTo(message, question, found?.spec.clusterIP);
}

function questionOf(message: Buffer): Question {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message.readUInt8(at); length !== 0; length = message.readUInt8(at)) {
    labels.push(message.toString('ascii', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), type: message.readUInt16BE(at + 1), end: at + 5 };
}

/** @param ip of the name; absent = there is no such name */
function replyTo(message: Buffer, { type, end }: Question, ip: string | undefined): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  message.copy(header, 0, 0, 2);
  header.writeUInt16BE(FLAGS | (ip === undefined ? NO_SUCH_NAME : 0), 2);
  header.writeUInt16BE(1, 4);
  const has = ip !== undefined && type === TYPE_A;
  header.writeUInt16BE(has ? 1 : 0, 6);
  return Buffer.concat([header, message.subarray(HEADER_BYTES, end), ...(has ? [record(ip)] : [])]);
}

function record(ip: string): Buffer {
  const fields = Buffer.alloc(12);
  fields.writeUInt16BE(POINTER_TO_QUESTION, 0);
  fields.writeUInt16BE(TYPE_A, 2);
  fields.writeUInt16BE(CLASS_IN, 4);
  fields.writeUInt32BE(TTL_SECONDS, 6);
  fields.writeUInt16BE(4, 10);
  return Buffer.concat([fields, Buffer.from(ip.split('.').map(Number))]);
}
