/* Forges: GitHub and GitLab. */
#include "tools/gridhook/events/family_inner.h"

static const struct take github_takes[] = {
    {FIELD_TEXT,
	"workflow_run.display_title|check_run.name|head_commit.message|"
	"commits.0.message|"
	"review.body|comment.body|pull_request.title|issue.title|release.name|"
	"discussion.title|description|zen|ref"},
    {FIELD_URL,
	"workflow_run.html_url|check_run.html_url|review.html_url|"
	"comment.html_url|pull_request.html_url|issue.html_url|"
	"release.html_url|compare|compare_url|repository.html_url"},
    {FIELD_STATUS, "workflow_run.conclusion|check_run.conclusion|state"},
    {FIELD_END, NULL},
};

static bool
knows_github(struct jval object, const struct hints *hints)
{
	return hints->github_event.len > 0 ||
	    (family_has(object, "repository.full_name") &&
		family_has(object, "sender.login"));
}

static void
mend_github(struct event *event, struct jval object, const struct hints *hints,
    struct arena *arena)
{
	struct joined joined;

	event->source = SPAN("github");
	event->dedupe = hints->github_delivery;
	event->tag_count = 0;
	if (family_join_begin(&joined, arena)) {
		family_join(&joined, "",
		    family_text_at(object, "repository.full_name", arena));
		family_join(&joined, ": ", hints->github_event);
		family_join(
		    &joined, " ", family_text_at(object, "action", arena));
		family_join(&joined, " by ",
		    family_text_at(object, "sender.login", arena));
		event->title = buf_span(&joined.buf);
	}
	if (event->status == STATUS_ERROR) {
		event->is_job = true;
		event->job_id =
		    family_text_at(object, "workflow_run.id", arena);
		event->job_name = family_text_at(
		    object, "workflow_run.name|check_run.name", arena);
		event->job_error = family_text_at(object,
		    "workflow_run.conclusion|check_run.conclusion", arena);
		family_fail_job(event);
	}
}

static const struct take gitlab_takes[] = {
    {FIELD_TEXT,
	"object_attributes.title|object_attributes.note|commit.message|"
	"commits.0.title|commits.0.message|"
	"build_name|object_attributes.detailed_status|"
	"object_attributes.status|ref|message"},
    {FIELD_URL, "object_attributes.url|project.web_url"},
    {FIELD_STATUS, "object_attributes.status|build_status"},
    {FIELD_END, NULL},
};

static bool
knows_gitlab(struct jval object, const struct hints *hints)
{
	return family_has(object, "object_kind") &&
	    (hints->gitlab_event.len > 0 ||
		family_has(object,
		    "project.path_with_namespace|project_name|"
		    "project_id"));
}

static void
mend_gitlab(struct event *event, struct jval object, const struct hints *hints,
    struct arena *arena)
{
	struct joined joined;

	(void)hints;
	event->source = SPAN("gitlab");
	if (family_join_begin(&joined, arena)) {
		family_join(&joined, "",
		    family_text_at(object,
			"project.path_with_namespace|project_name", arena));
		family_join(&joined, ": ",
		    family_text_at(object, "object_kind", arena));
		family_join(&joined, " ",
		    family_text_at(object, "object_attributes.action", arena));
		family_join(&joined, " by ",
		    family_text_at(object,
			"user.username|user_username|user_name", arena));
		event->title = buf_span(&joined.buf);
	}
	if (event->status == STATUS_ERROR) {
		event->is_job = true;
		event->job_id = family_text_at(
		    object, "object_attributes.id|build_id", arena);
		event->job_name = family_text_at(
		    object, "build_name|object_attributes.name", arena);
		event->job_error =
		    family_text_at(object, "build_failure_reason", arena);
		family_fail_job(event);
	}
}

const struct family family_github = {
    "github", EVENT_CODE, knows_github, github_takes, mend_github};

const struct family family_gitlab = {
    "gitlab", EVENT_CODE, knows_gitlab, gitlab_takes, mend_gitlab};
