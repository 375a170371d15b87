/**
 * Argo CD's health of every kind of ours. It says what kstatus says: Healthy is Current, Degraded is Failed, Progressing and Suspended are InProgress.
 * Argo CD answers for objects that are being deleted itself. Only Lua's basic functions are there.
 */
export const HEALTH_LUA = `-- The kinds of cloud-operator.dev are kstatus-shaped: status.observedGeneration says which version the conditions speak of,
-- Ready is always there, Reconciling and Stalled only while they are True, and never both.
if obj.status == nil or obj.status.observedGeneration ~= obj.metadata.generation then
  return { status = "Progressing", message = "cloud-operator has not looked at this version yet" }
end
local found = {}
for _, condition in ipairs(obj.status.conditions or {}) do
  found[condition.type] = condition
end
local function holds(kind)
  return found[kind] ~= nil and found[kind].status == "True"
end
local function verdict(status, condition)
  return { status = status, message = condition.reason .. ": " .. condition.message }
end
-- These wait for a person who has said so, and not for the cloud.
local suspended = { AwaitingApproval = true, StackAwaitingApproval = true, AwaitingWindow = true, Frozen = true, Paused = true }
if holds("Stalled") then
  return verdict("Degraded", found.Stalled)
end
if holds("Reconciling") then
  return verdict(suspended[found.Reconciling.reason] and "Suspended" or "Progressing", found.Reconciling)
end
if found.Ready == nil then
  return { status = "Healthy", message = "" }
end
return verdict(found.Ready.status == "True" and "Healthy" or "Progressing", found.Ready)
`;
